import { mayExtend, plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { typeName } from "../../content/environment-types.ts";
import { capitalised } from "../../content/number-word.ts";
import { unitWords } from "../../content/unit-words.ts";
import { dateTime, hoursText, sizeText } from "../../format.ts";
import { type Fact, Facts } from "../../ui/display/facts.tsx";
import { NamedSlots } from "../../ui/display/slots.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { extendParam } from "../actions/extend-param.ts";
import { PasswordHint } from "../actions/password-hint.tsx";
import { useDownload } from "../actions/use-download.ts";
import { type Detail, isFirstLaunch, stillSince } from "../lifecycle/environment.ts";
import { ExpiresCell } from "../lifecycle/expires-cell.tsx";
import { costSoFar } from "../lifecycle/given-up.ts";
import classes from "./environment-page.module.css";

export function EnvironmentSummary({ environment }: { readonly environment: Detail }) {
  const { id, status } = environment;
  return (
    <aside className={`panel ${classes.summary}`} aria-label="About this environment">
      <Facts facts={factsOf(environment)} />
      <div className={classes.buttons}>
        {mayExtend[status] && (
          <Button component={Link} to={`?${extendParam}=${id}`} variant="default">
            Add time
          </Button>
        )}
        {!isFirstLaunch(environment) && <Download environment={environment} />}
        {status !== "terminated" && status !== "unknown" && <PasswordHint environments={[environment]} />}
      </div>
    </aside>
  );
}

function Download({ environment: { id, subdomain } }: { readonly environment: Detail }) {
  const { mutate, isPending } = useDownload(id, subdomain);
  return (
    <Button variant="default" disabled={isPending} onClick={() => mutate()}>
      Download files
    </Button>
  );
}

function factsOf(environment: Detail): Fact[] {
  const { type, status, gpu, gpu_count, duration_hours, booked, created_at, home_mb } = environment;
  const unit = unitWords[gpu ? "gpu" : "cpu"];
  const first = isFirstLaunch(environment);
  return [
    { label: "Type", value: typeName(type) },
    {
      label: capitalised(unit.all),
      value: (
        <NamedSlots filled={gpu_count} tone={status === "active" ? "live" : "rest"}>
          {plural(gpu_count, unit.one)}
        </NamedSlots>
      ),
    },
    {
      label: "Machine",
      value: gpu
        ? `${gpu.model}, ${(gpu.memory_mb / 1024).toFixed(0)}\u00a0GB\u00a0each`
        : "CPU only (no GPU on this machine)",
    },
    { label: "Booked", value: hoursText(booked?.hours || duration_hours) },
    { label: first ? "Paid" : "Ready since", value: dateTime(created_at) },
    {
      label: status === "terminated" ? "Ended" : "Expires",
      value: <ExpiresCell environment={clockOf(environment)} />,
    },
    ...(first || status === "terminated" || !booked?.paid.length
      ? []
      : [{ label: "Cost so far", value: <CostSoFar environment={environment} /> }]),
    // There are no files before the first run was ready.
    { label: "Files", value: home_mb === null ? (first ? "N/A" : "Not measured yet") : sizeText(home_mb) },
  ];
}

/** As the bar in JupyterLab says it (G392). */
function CostSoFar({ environment }: { readonly environment: Detail }) {
  return <span className="num">{costSoFar(clockOf(environment), useNow(1000))}</span>;
}

/** What is left of a clock that stands is shown as banked. */
function clockOf(environment: Detail): Detail {
  const { expires_at } = environment;
  const since = stillSince(environment);
  if (since === null || expires_at === null) return environment;
  return { ...environment, expires_at: null, banked_seconds: (Date.parse(expires_at) - Date.parse(since)) / 1000 };
}
