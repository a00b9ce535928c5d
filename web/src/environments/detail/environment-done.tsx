import { type DoneMode, planOf, setDoneNotice } from "@berth/contract";
import { Switch } from "@mantine/core";
import { call } from "../../api/call.ts";
import type { Detail } from "../lifecycle/environment.ts";
import classes from "./environment-done.module.css";
import idle from "./environment-idle.module.css";
import section from "./environment-section.module.css";
import { useSetting } from "./use-setting.ts";

/** One notice when nothing runs any more, and a stop with it (G360). */
export function EnvironmentDone({ environment }: { readonly environment: Detail }) {
  const { id, duration_hours, done_notice } = environment;
  const { set, saving, saved, pending, failure } = useDoneNotice(id);
  const mode = pending === undefined ? done_notice.mode : pending;
  return (
    <section aria-labelledby="done-title">
      <h2 id="done-title" className="section-title">
        Tell me when it is done
      </h2>
      <p className={section.lead}>
        A notice and a mail, once, when for 30 seconds no cell has run, no program in a terminal, and nothing on CPU or
        GPU. A cell that waits or asks for input runs.
      </p>
      <div className={classes.switches}>
        <Switch
          label="Tell me when nothing runs any more"
          checked={mode !== null}
          onChange={(event) => set(event.currentTarget.checked ? "notify" : null)}
        />
        {mode !== null && (
          <Switch
            className={classes.within ?? ""}
            label="and stop then"
            description={
              planOf(duration_hours) === "hourly"
                ? "Its clock stands still and its files stay; what is in memory goes."
                : "It keeps its GPUs and files, and the clock of a monthly plan runs on; what is in memory goes."
            }
            checked={mode === "stop"}
            onChange={(event) => set(event.currentTarget.checked ? "stop" : "notify")}
          />
        )}
      </div>
      <p role="status" className={idle.state}>
        {saving ? "Saving..." : mode === null ? saved && "Saved" : waitsFor(done_notice.has_run)}
      </p>
      {failure && (
        <p role="alert" className={idle.failed}>
          Not saved. {failure}
        </p>
      )}
    </section>
  );
}

function waitsFor(hasRun: boolean): string {
  return hasRun ? "Something has run: it waits for its end." : "It waits for a first cell or program to run.";
}

function useDoneNotice(id: string) {
  return useSetting(id, "done-notice", async (mode: DoneMode | null) => {
    const { done_notice } = await call(setDoneNotice, { params: { id }, body: { mode } });
    return { done_notice };
  });
}
