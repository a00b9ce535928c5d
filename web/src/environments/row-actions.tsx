import { Button } from "@mantine/core";
import { OpenSession } from "../ui/open-session.tsx";
import { actionTexts, cannotPause } from "./action-texts.ts";
import { buttonsOf, type Environment, isFirstLaunch } from "./environment.ts";
import classes from "./environments-table.module.css";
import { RowMenu } from "./row-menu.tsx";
import type { RowAction } from "./use-actions.ts";

interface Props {
  readonly environment: Environment;
  /** The host name where it answers. */
  readonly host: string;
  readonly busy: RowAction | undefined;
  readonly onAction: (environment: Environment, action: RowAction) => void;
  readonly onTerminate: (environment: Environment) => void;
}

/** What the status allows, nothing else (spec section 4). The main action is last and the only bordered one. */
export function RowActions({ environment, host, busy, onAction, onTerminate }: Props) {
  const { status } = environment;
  const menu = (
    <RowMenu
      environment={environment}
      host={host}
      disabled={busy !== undefined}
      onTerminate={() => onTerminate(environment)}
    />
  );
  if (status === "terminated")
    return (
      <div className={classes.actions}>
        <span className={classes.ended}>Terminated</span>
        {menu}
      </div>
    );
  return (
    <div className={classes.actions}>
      <Waiting environment={environment} busy={busy} />
      {buttonsOf(environment).map((action, index, all) => (
        <Button
          key={action}
          size="xs"
          variant={status !== "active" && index === all.length - 1 ? "default" : "subtle"}
          disabled={busy !== undefined || (action === "pause" && !environment.can_pause)}
          {...(action === "pause" &&
            !environment.can_pause && { title: cannotPause, "aria-label": `Pause. ${cannotPause}` })}
          onClick={() => onAction(environment, action)}
        >
          {busy === action ? actionTexts[action].busy : actionTexts[action].label}
        </Button>
      ))}
      <MainAction environment={environment} busy={busy} onAction={onAction} />
      {menu}
    </div>
  );
}

function Waiting({ environment, busy }: Pick<Props, "environment" | "busy">) {
  if (busy === "terminate") return <span className={classes.ended}>Terminating...</span>;
  if (environment.status === "unknown") return <span className={classes.ended}>Unknown Status</span>;
  return null;
}

function MainAction({ environment, busy, onAction }: Pick<Props, "environment" | "busy" | "onAction">) {
  if (environment.status === "active") {
    // A link cannot be switched off; while the row is busy a button that does nothing stands in its place.
    if (busy === undefined) return <OpenSession subdomain={environment.subdomain} size="xs" variant="default" />;
    return (
      <Button size="xs" variant="default" disabled>
        Open Session
      </Button>
    );
  }
  if (!isFirstLaunch(environment)) return null;
  return (
    <Button size="xs" variant="default" disabled={busy !== undefined} onClick={() => onAction(environment, "cancel")}>
      {busy === "cancel" ? "Cancelling..." : "Cancel"}
    </Button>
  );
}
