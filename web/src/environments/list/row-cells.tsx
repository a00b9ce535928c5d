import { memo } from "react";
import { Link } from "react-router";
import { typeName } from "../../content/environment-types.ts";
import { dateTime, plural } from "../../format.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { Slots } from "../../ui/display/slots.tsx";
import { RowActions } from "../actions/row-actions.tsx";
import type { RowAction } from "../actions/use-actions.ts";
import type { Environment } from "../lifecycle/environment.ts";
import { ExpiresCell } from "../lifecycle/expires-cell.tsx";
import { StatusCell } from "../lifecycle/status-cell.tsx";
import classes from "./list-table.module.css";

interface Props {
  readonly environment: Environment;
  readonly host: string;
  readonly busy: RowAction | undefined;
  readonly onAction: (environment: Environment, action: RowAction) => void;
  readonly onTerminate: (environment: Environment) => void;
}

/** Memoized, so that a keystroke in the search or one busy row does not re-render two hundred others. */
export const RowCells = memo(function EnvironmentCells({ environment, host, ...actions }: Props) {
  const { id, name, type, status, gpu_count } = environment;
  return (
    <>
      <td className={classes.name}>
        <strong>
          <Link to={`/environments/${id}`}>{name}</Link>
        </strong>
        {host !== "" && <CopyText value={host} label={`address of ${name}`} />}
      </td>
      <td className={classes.type}>
        <span>{typeName(type)}</span>
        <small>
          <Slots filled={gpu_count} tone={status === "active" ? "live" : "rest"} />
          {plural(gpu_count, "GPU")}
        </small>
      </td>
      <td className={classes.status}>
        <StatusCell environment={environment} />
      </td>
      <td className={classes.created}>
        <span>Created</span> {dateTime(environment.created_at)}
      </td>
      <td className={classes.expires}>
        <ExpiresCell environment={environment} />
      </td>
      <td className={classes.cellActions}>
        <RowActions environment={environment} host={host} {...actions} />
      </td>
    </>
  );
});
