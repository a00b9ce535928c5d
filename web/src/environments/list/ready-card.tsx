import { CloseButton } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { OpenSession } from "../../ui/controls/open-session.tsx";
import type { Environment } from "../lifecycle/environment.ts";
import { EnvironmentStatus } from "../lifecycle/environment-status.tsx";
import classes from "./ready-card.module.css";

/** The navigation state from the launch page (spec 2.8, G41). */
export interface Arrival {
  readonly jupyter_token: string;
  /** Without it, the name that was asked for tells which it is. */
  readonly environment_id?: string | undefined;
  readonly subdomain?: string | undefined;
}

/** Takes the token and removes it from the history, because history.state survives a reload. */
export function useArrival(): readonly [Arrival | undefined, () => void] {
  const { state, pathname, search } = useLocation();
  const navigate = useNavigate();
  const [arrival, setArrival] = useState(() => arrivalOf(state));
  const carries = arrivalOf(state) !== undefined;
  useEffect(() => {
    if (carries) void navigate(pathname + search, { replace: true, state: null, preventScrollReset: true });
  }, [carries, navigate, pathname, search]);
  return [arrival, () => setArrival(undefined)];
}

function arrivalOf(state: unknown): Arrival | undefined {
  const candidate = state as Partial<Arrival> | null;
  if (typeof candidate?.jupyter_token !== "string") return undefined;
  const { jupyter_token, environment_id, subdomain } = candidate;
  return { jupyter_token, environment_id, subdomain };
}

interface Props {
  readonly arrival: Arrival;
  /** Undefined until the list shows it. */
  readonly environment: Environment | undefined;
  readonly onClose: () => void;
}

/** Shown above the list after a launch, with the token once (G94). */
export function ReadyCard({ arrival, environment, onClose }: Props) {
  if (!environment || environment.status === "terminated") return null;
  const { status, subdomain, name, host } = environment;
  const pending = status === "pending";
  return (
    <section className={`panel ${classes.card}`} aria-label="New environment">
      <div className={classes.head}>
        <p role="status">
          <EnvironmentStatus environment={environment} />
          <span>
            {pending ? "It is still starting and opens here when it is ready." : "Your environment is ready."}
          </span>
        </p>
        <CloseButton aria-label="Close" onClick={onClose} />
      </div>
      <h2>{host || name}</h2>
      <div className={classes.foot}>
        {status === "active" && subdomain !== "" && <OpenSession subdomain={subdomain} />}
        <div>
          <span className={classes.label}>Jupyter password</span>
          <CopyText value={arrival.jupyter_token} label="Jupyter password" />
          <p>You are signed in without it. It is for other tools; the environment's page shows it too.</p>
        </div>
      </div>
    </section>
  );
}
