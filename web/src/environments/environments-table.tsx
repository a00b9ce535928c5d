import { useConfig } from "../api/product-config.ts";
import { useNow } from "../ui/use-now.ts";
import { hostOf } from "./address.ts";
import type { Environment } from "./environment.ts";
import { EnvironmentRow } from "./environment-row.tsx";
import classes from "./environments-table.module.css";
import { SortHead } from "./sort-head.tsx";
import type { Actions } from "./use-actions.ts";
import type { Sort } from "./view.ts";

interface Props {
  readonly environments: readonly Environment[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly actions: Actions;
  readonly onTerminate: (environment: Environment) => void;
}

export function EnvironmentsTable({ environments, sort, onSort, actions, onTerminate }: Props) {
  const template = useConfig()?.environmentUrl;
  const now = useNow();
  return (
    <table className={classes.table}>
      <SortHead sort={sort} onSort={onSort} />
      <tbody>
        {environments.map((environment) => (
          <EnvironmentRow
            key={environment.id}
            environment={environment}
            host={template === undefined ? environment.subdomain : hostOf(template, environment.subdomain)}
            now={now}
            busy={actions.busy.get(environment.id)}
            onAction={actions.run}
            onTerminate={onTerminate}
          />
        ))}
      </tbody>
    </table>
  );
}
