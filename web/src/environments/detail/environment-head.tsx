import { CopyText } from "../../ui/controls/copy-text.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { stopHint } from "../actions/action-texts.ts";
import { RowActions } from "../actions/row-actions.tsx";
import type { RowAction } from "../actions/use-actions.ts";
import { canStop, type Environment } from "../lifecycle/environment.ts";
import { StatusCell } from "../lifecycle/status-cell.tsx";
import classes from "./environment-page.module.css";

interface Props {
  readonly environment: Environment;
  readonly busy: RowAction | undefined;
  readonly onAction: (environment: Environment, action: RowAction) => void;
  readonly onTerminate: () => void;
}

export function EnvironmentHead({ environment, ...actions }: Props) {
  const { name, host } = environment;
  const now = useNow();
  return (
    <header className={classes.head} aria-busy={actions.busy !== undefined || undefined}>
      <div className={classes.title}>
        <h2>{name}</h2>
        {host !== "" && <CopyText value={host} label={`address of ${name}`} />}
      </div>
      <div className={classes.status} role="status">
        <StatusCell environment={environment} />
      </div>
      <div className={classes.actions}>
        <RowActions environment={environment} prominent {...actions} />
      </div>
      {canStop(environment) && <p className={classes.hint}>{stopHint(environment, now)}</p>}
    </header>
  );
}
