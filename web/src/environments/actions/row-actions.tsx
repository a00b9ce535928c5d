import type { Action } from "@berth/contract";
import { Button } from "@mantine/core";
import { useState } from "react";
import { serverNow } from "../../server-clock.ts";
import { OpenSession } from "../../ui/controls/open-session.tsx";
import { buttonsOf, type Environment, isFirstLaunch } from "../lifecycle/environment.ts";
import { actionTexts, cannotPause, titleOf } from "./action-texts.ts";
import classes from "./row-actions.module.css";
import { RowMenu } from "./row-menu.tsx";
import type { RowAction } from "./use-actions.ts";

interface Props {
  readonly environment: Environment;
  readonly busy: RowAction | undefined;
  readonly onAction: (environment: Environment, action: RowAction) => void;
  readonly onTerminate: (environment: Environment) => void;
  /** On the environment's own page: the main action is the page's main button. */
  readonly prominent?: boolean;
}

/** The actions that the status allows (spec 4.2). The main action is last and the only bordered one. */
export function RowActions({ environment, busy, onAction, onTerminate, prominent = false }: Props) {
  const { status } = environment;
  const style = prominent ? prominentStyle : rowStyle;
  const menu = (
    <RowMenu environment={environment} disabled={busy !== undefined} onTerminate={() => onTerminate(environment)} />
  );
  // In a list only the label (spec 4.2); the environment's page has the menu.
  if (status === "terminated")
    return (
      <div className={classes.actions}>{prominent ? menu : <span className={classes.ended}>Terminated</span>}</div>
    );
  return (
    <div className={`${classes.actions} ${prominent ? "" : classes.columns}`}>
      <Waiting status={status} busy={busy} prominent={prominent} />
      {buttonsOf(environment).map((action, index, all) => (
        <ActionButton
          key={action}
          {...{ environment, action, busy, onAction }}
          size={style.size}
          variant={status !== "active" && index === all.length - 1 ? style.main : style.rest}
        />
      ))}
      <MainAction environment={environment} busy={busy} onAction={onAction} style={style} />
      {menu}
    </div>
  );
}

type ActionButtonProps = Pick<Props, "environment" | "busy" | "onAction"> & {
  readonly action: Action;
  readonly size: ButtonStyle["size"];
  readonly variant: ButtonStyle["main" | "rest"];
};

function ActionButton({ environment, action, busy, onAction, ...style }: ActionButtonProps) {
  // Read when somebody points at it, because the time left goes on while nothing renders the row.
  const [now, setNow] = useState(serverNow);
  const isRefused = action === "pause" && !environment.can_pause;
  return (
    <Button
      {...style}
      data-action={action}
      disabled={busy !== undefined || isRefused}
      title={titleOf(environment, action, now)}
      {...(isRefused && { "aria-label": `Pause. ${cannotPause}` })}
      onMouseEnter={() => setNow(serverNow())}
      onClick={() => onAction(environment, action)}
    >
      {busy === action ? actionTexts[action].busy : actionTexts[action].label}
    </Button>
  );
}

/** The environment's page has the status beside. */
function Waiting({ status, busy, prominent }: Pick<Props, "busy" | "prominent"> & Pick<Environment, "status">) {
  if (busy === "terminate") return <span className={classes.ended}>Terminating...</span>;
  if (status === "unknown" && !prominent) return <span className={classes.ended}>Unknown Status</span>;
  return null;
}

interface ButtonStyle {
  readonly size: "xs" | "sm";
  readonly main: "default" | "filled";
  readonly rest: "subtle" | "default";
}

const rowStyle: ButtonStyle = { size: "xs", main: "default", rest: "subtle" };
const prominentStyle: ButtonStyle = { size: "sm", main: "filled", rest: "default" };

function MainAction({
  environment,
  busy,
  onAction,
  style: { size, main, rest },
}: Pick<Props, "environment" | "busy" | "onAction"> & { readonly style: ButtonStyle }) {
  if (environment.status === "active") {
    // Without a name there is no address to open (G303).
    if (environment.subdomain === "") return null;
    // A link cannot be disabled, so a disabled button replaces it while the row is busy.
    if (busy === undefined) return <OpenSession subdomain={environment.subdomain} size={size} variant={main} />;
    return (
      <Button size={size} variant={main} disabled>
        Open Session
      </Button>
    );
  }
  if (!isFirstLaunch(environment)) return null;
  return (
    <Button
      size={size}
      variant={size === "sm" ? rest : main}
      disabled={busy !== undefined}
      onClick={() => onAction(environment, "cancel")}
    >
      {busy === "cancel" ? "Cancelling..." : "Cancel"}
    </Button>
  );
}
