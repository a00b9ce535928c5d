import { actOnEnvironment, type EnvironmentAct, type OperatedEnvironment } from "@berth/contract/console/environments";
import { Button } from "@mantine/core";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import { type Choice, ChoiceCards } from "../frame/choice-cards.tsx";
import list from "../frame/list.module.css";
import { unusedText } from "./environment-facts.tsx";

const ownerReads = "The owner reads it, by bell and by mail, and the audit keeps it.";

/** Stop and terminate, each confirmed with a reason. */
export function EnvironmentActs({ environment }: { readonly environment: OperatedEnvironment }) {
  const { id, subdomain, created_at, unused } = environment;
  const [act, setAct] = useState<EnvironmentAct>();
  const [refund, setRefund] = useState(true);
  const call = (chosen: EnvironmentAct, reason: string, typed: string) =>
    callConsole(actOnEnvironment, { params: { id, act: chosen }, body: { reason, typed, refund } });
  const requests: Readonly<Record<EnvironmentAct, ActRequest>> = {
    stop: {
      title: `Stop ${subdomain}`,
      action: "Stop",
      consequences: "Its files are kept, and the clock of an hourly plan stops. Its owner can start it again.",
      reasonHint: ownerReads,
      run: (reason) => call("stop", reason, ""),
    },
    terminate: {
      title: `Terminate ${subdomain}`,
      action: "Terminate",
      consequences:
        "It ends for good, and what is not saved in its files is lost. The files are kept as after any end.",
      fields:
        created_at === null ? (
          <p>It was never ready, so all of its price goes back.</p>
        ) : (
          <ChoiceCards
            label="What goes back"
            choices={moneyChoices(unused)}
            value={refund ? "unused" : "nothing"}
            onChange={(value) => setRefund(value === "unused")}
          />
        ),
      reasonHint: ownerReads,
      expected: subdomain,
      run: (reason, typed) => call("terminate", reason, typed),
    },
  };
  return (
    <div className={list.actions}>
      {canStop(environment) && (
        <Button variant="default" onClick={() => setAct("stop")}>
          Stop
        </Button>
      )}
      {environment.desired !== "terminated" && environment.status !== "terminated" && (
        <Button variant="default" onClick={() => setAct("terminate")}>
          Terminate
        </Button>
      )}
      <ActDialog request={act && requests[act]} onClose={() => setAct(undefined)} />
    </div>
  );
}

function moneyChoices(unused: OperatedEnvironment["unused"]): readonly Choice<"unused" | "nothing">[] {
  const now = unused.length > 0 ? `: ${unusedText(unused)}` : "";
  return [
    { value: "unused", title: `Its unused time${now}`, lines: ["As it is when the environment has ended."] },
    { value: "nothing", title: "Nothing", lines: ["For what the terms forbid, such as crypto mining."] },
  ];
}

function canStop({ status, desired }: OperatedEnvironment): boolean {
  return (status === "active" || status === "paused") && (desired === "running" || desired === "paused");
}
