import { plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useUnit } from "../api/use-unit.ts";
import { typeName } from "../content/environment-types.ts";
import type { Environment } from "../environments/lifecycle/environment.ts";
import { EnvironmentStatus } from "../environments/lifecycle/environment-status.tsx";
import { date } from "../format.ts";
import { OpenSession } from "../ui/controls/open-session.tsx";
import { NamedSlots } from "../ui/display/slots.tsx";
import { TimeLeft } from "../ui/display/time-left.tsx";
import { useNow } from "../ui/display/use-now.ts";
import classes from "./recent-environments.module.css";

export function RecentEnvironments({ environments }: { environments: readonly Environment[] }) {
  const now = useNow();
  return (
    <ul className={`panel ${classes.list}`}>
      {environments.map((environment) => (
        <Row key={environment.id} environment={environment} now={now} />
      ))}
    </ul>
  );
}

function Row({ environment, now }: { environment: Environment; now: number }) {
  const { name, host, status, type, gpu_count, created_at, expires_at, duration_hours } = environment;
  return (
    <li>
      <div className={classes.name}>
        <strong>{name}</strong>
        <span className="mono">{host || "N/A"}</span>
      </div>
      <div className={classes.meta}>
        <NamedSlots filled={gpu_count} tone={status === "active" ? "live" : "rest"}>
          {typeName(type)}, {plural(gpu_count, useUnit().one)}
        </NamedSlots>
        <span className="faint">Created {date(created_at)}</span>
      </div>
      <div className={classes.state}>
        <EnvironmentStatus environment={environment} />
        {status === "active" && <TimeLeft expiresAt={expires_at} hours={duration_hours} now={now} />}
      </div>
      <div className={classes.action}>
        <Action environment={environment} />
      </div>
    </li>
  );
}

/** One main button each (spec 2.7, G57). */
function Action({ environment: { id, status, subdomain } }: { environment: Environment }) {
  if (status === "terminated") return null;
  // Without a name there is no address to open (G303).
  if (status === "active" && subdomain !== "") return <OpenSession subdomain={subdomain} size="xs" variant="default" />;
  return (
    <Button size="xs" variant="subtle" component={Link} to={`/environments?environment=${encodeURIComponent(id)}`}>
      Manage
    </Button>
  );
}
