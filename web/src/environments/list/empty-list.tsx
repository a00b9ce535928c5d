import { plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { EmptyState, FreeSlots } from "../../ui/display/empty-state.tsx";
import { type ListView, statusFilters } from "./list-view.ts";

type Props =
  | { readonly reason: "empty" }
  | { readonly reason: "failed"; readonly onTry: () => void; readonly busy: boolean }
  | { readonly reason: "none"; readonly view: ListView; readonly count: number; readonly onClear: () => void };

/** Three reasons for an empty list, each with one action. */
export function EmptyList(props: Props) {
  if (props.reason === "failed")
    return (
      <EmptyState
        title="Server failure, please go to Dashboard and refresh"
        picture={<FreeSlots failed />}
        action={
          <Button variant="default" onClick={props.onTry} loading={props.busy}>
            Try Again
          </Button>
        }
      >
        Your environments go on running; only this list could not be read.
      </EmptyState>
    );
  if (props.reason === "none")
    return (
      <EmptyState
        title="No environment matches"
        action={
          <Button variant="default" onClick={props.onClear}>
            Clear All
          </Button>
        }
      >
        {whatMissed(props.view)} among your {plural(props.count, "environment")}. Search looks at name, type, status,
        subdomain and id.
      </EmptyState>
    );
  return (
    <EmptyState
      title="No environments yet"
      picture={<FreeSlots />}
      action={
        <Button component={Link} to="/environments/create">
          Create Your First Environment
        </Button>
      }
    >
      What you launch stands here, with its address, its time left and its files.
    </EmptyState>
  );
}

function whatMissed({ search, status, environment }: ListView): string {
  const named = search.trim() === "" ? "Nothing" : `Nothing like "${search.trim()}"`;
  const label = statusFilters.find(({ value }) => value === status)?.label;
  const withStatus = status === "all" ? "" : ` with status ${label}`;
  return `${named}${withStatus}${environment ? ` and id ${environment.slice(0, 8)}` : ""}`;
}
