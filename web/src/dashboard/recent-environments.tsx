import { Button } from "@mantine/core";
import { Link } from "react-router";
import { environmentHost } from "../api/brand.ts";
import { typeName } from "../content/catalogue.ts";
import { stageWords } from "../environments/stages.ts";
import { date, environmentName, plural } from "../format.ts";
import { OpenSession } from "../ui/open-session.tsx";
import { NamedSlots } from "../ui/slots.tsx";
import { Status } from "../ui/status.tsx";
import { TimeLeft } from "../ui/time-left.tsx";
import { useNow } from "../ui/use-now.ts";
import type { Named } from "./figures.ts";
import classes from "./recent-environments.module.css";

export function RecentEnvironments({ environments }: { environments: readonly Named[] }) {
  const now = useNow();
  return (
    <ul className={`panel ${classes.list}`}>
      {environments.map((environment) => (
        <Row key={environment.id} environment={environment} now={now} />
      ))}
    </ul>
  );
}

function Row({ environment: { id, container }, now }: { environment: Named; now: number }) {
  const { status, subdomain, type, gpu_count, created_at, expires_at, duration_hours } = container;
  const host = environmentHost(subdomain);
  const gpus = gpu_count || 1;
  return (
    <li>
      <div className={classes.name}>
        <strong>{environmentName(id, subdomain)}</strong>
        <span className="mono">{subdomain === "" ? "N/A" : host}</span>
      </div>
      <div className={classes.meta}>
        <NamedSlots filled={gpus} tone={status === "active" ? "live" : "rest"}>
          {typeName(type)}, {plural(gpus, "GPU")}
        </NamedSlots>
        <span className="faint">Created {date(created_at)}</span>
      </div>
      <div className={classes.state}>
        <Status
          value={status}
          stage={status === "pending" ? stageWords(container.stage, container.stage_percent) : undefined}
        />
        {status === "active" && <TimeLeft expiresAt={expires_at} hours={duration_hours} now={now} />}
      </div>
      <div className={classes.action}>
        <Action environment={{ id, container }} />
      </div>
    </li>
  );
}

/** One main button each: in, nothing more, or on to its page (spec section 2, G57). */
function Action({ environment: { id, container } }: { environment: Named }) {
  if (container.status === "terminated") return null;
  if (container.status === "active") return <OpenSession subdomain={container.subdomain} size="xs" variant="default" />;
  return (
    <Button size="xs" variant="subtle" component={Link} to={`/environments/${encodeURIComponent(id)}`}>
      Manage
    </Button>
  );
}
