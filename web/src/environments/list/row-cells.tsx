import { plural } from "@berth/contract";
import { memo } from "react";
import { typeName } from "../../content/environment-types.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { dateTime } from "../../format.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { RowLink } from "../../ui/controls/row-link.tsx";
import { Slots } from "../../ui/display/slots.tsx";
import { RowActions } from "../actions/row-actions.tsx";
import type { RowAction } from "../actions/use-actions.ts";
import { canStop, type Environment } from "../lifecycle/environment.ts";
import { ExpiresCell } from "../lifecycle/expires-cell.tsx";
import { StatusCell } from "../lifecycle/status-cell.tsx";
import classes from "./list-table.module.css";

interface Props {
  readonly environment: Environment;
  readonly unit: UnitWords;
  readonly busy: RowAction | undefined;
  readonly selected: boolean;
  readonly onAction: (environment: Environment, action: RowAction) => void;
  readonly onTerminate: (environment: Environment) => void;
  readonly onSelect: (id: string, selected: boolean) => void;
  readonly onOpen: (path: string) => void;
}

/** Memoized, so that a keystroke in the search or one busy row does not re-render two hundred others (G340). */
export const RowCells = memo(function EnvironmentCells({
  environment,
  unit,
  selected,
  onSelect,
  onOpen,
  ...actions
}: Props) {
  const { id, name, subdomain, host, type, status, gpu_count } = environment;
  return (
    <>
      <td className={classes.pick}>
        {canStop(environment) && (
          <label>
            <input
              type="checkbox"
              aria-label={`Select ${name}`}
              checked={selected}
              onChange={(event) => onSelect(id, event.currentTarget.checked)}
            />
          </label>
        )}
      </td>
      <td className={classes.name}>
        <strong>
          <RowLink to={`/environments/${id}`} title={name} onOpen={onOpen}>
            {name}
          </RowLink>
        </strong>
        {/* The name stands above; what follows it in the address is enough. */}
        {host !== "" && <CopyText value={host} label={`address of ${name}`} shown={host.slice(subdomain.length)} />}
      </td>
      <td className={classes.type}>
        <span>{typeName(type)}</span>
        <small>
          <Slots filled={gpu_count} tone={status === "active" ? "live" : "rest"} />
          {plural(gpu_count, unit.one)}
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
        <RowActions environment={environment} {...actions} />
      </td>
    </>
  );
});
