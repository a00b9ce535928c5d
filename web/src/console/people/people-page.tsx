import { plural } from "@berth/contract";
import { type PersonSummary, searchPeople } from "@berth/contract/console/people";
import { Skeleton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { date } from "../../format.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { Pager } from "../frame/pager.tsx";
import { SearchForm } from "../frame/search-form.tsx";
import { useListAddress } from "../frame/use-list-address.ts";

/** Accounts, newest first, found by a part of their address, name or id. */
export function PeoplePage() {
  const { filter: text, page, setFilter, setPage } = useListAddress("text");
  const { data, error, refetch } = useQuery({
    queryKey: ["people", text, page],
    queryFn: ({ signal }) => callConsole(searchPeople, { params: {}, body: { text, page } }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={list.page}>
      <SearchForm label="Part of an address, name or id" text={text} onSearch={setFilter} />
      {error && <NotRead what="The accounts" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={320} radius="lg" role="status" aria-label="Reading the accounts" />}
      {data?.total === 0 && <EmptyState title={text ? `No account has ${text}` : "Nobody has signed up yet"} bare />}
      {data && data.people.length > 0 && <People people={data.people} />}
      {data && <Pager page={page} perPage={data.per_page} total={data.total} onPage={setPage} />}
    </div>
  );
}

const columns = ["Account", "Since", "Environments", "Paid orders", "State"];

function People({ people }: { readonly people: readonly PersonSummary[] }) {
  return (
    <Table className={list.rows} columns={columns}>
      {people.map(({ user_id, email, name, created_at, environments, paid_orders, ...state }) => (
        <tr key={user_id}>
          <th scope="row" data-label="Account">
            <Link to={`/people/${user_id}`} className="link target">
              {email}
            </Link>
            {name !== "" && <small>{name}</small>}
          </th>
          <td data-label="Since">{date(created_at)}</td>
          <td data-label="Environments">{environments}</td>
          <td data-label="Paid orders">{paid_orders}</td>
          <td data-label="State">
            <State {...state} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function State({ suspended_at, warnings }: Pick<PersonSummary, "suspended_at" | "warnings">) {
  if (suspended_at) return <Tag tone="fail">Suspended since {date(suspended_at)}</Tag>;
  return warnings > 0 ? <Tag tone="hold">{plural(warnings, "warning")}</Tag> : null;
}
