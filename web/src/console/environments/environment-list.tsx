import { plural } from "@berth/contract";
import {
  type EnvironmentFilter,
  environmentFilters,
  type ListedEnvironment,
  searchEnvironments,
} from "@berth/contract/console/environments";
import { Button, Select, Skeleton } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Table } from "../../ui/display/table.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { Owner } from "../frame/owner.tsx";
import { SearchForm } from "../frame/search-form.tsx";
import { useUnit } from "../frame/use-unit.ts";
import { EnvironmentState } from "./environment-state.tsx";

export interface View {
  readonly text: string;
  readonly status: EnvironmentFilter;
  /** Empty: every host. */
  readonly host: string;
}

interface Props {
  readonly view: View;
  readonly onView: (part: Partial<View>) => void;
}

const filterLabels: Readonly<Record<EnvironmentFilter, string>> = {
  living: "All that have not ended",
  pending: "Pending",
  active: "Active",
  paused: "Paused",
  stopped: "Stopped",
  terminated: "Terminated",
  unknown: "Unknown status",
};

/** Environments that were found, newest first, a page at a time. */
export function EnvironmentList({ view, onView }: Props) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["environments", view],
    queryFn: ({ pageParam, signal }) =>
      callConsole(searchEnvironments, { params: {}, body: { ...view, before: pageParam } }, signal),
    initialPageParam: "",
    getNextPageParam: ({ environments, more }) => (more ? environments.at(-1)?.id : undefined),
    placeholderData: keepPreviousData,
  });
  const environments = data?.pages.flatMap((page) => page.environments);
  return (
    <section className={list.section} aria-label="Environments">
      <div className={list.filters}>
        <SearchForm label="Name, id or owner's address" text={view.text} onSearch={(text) => onView({ text })} />
        <Filters view={view} onView={onView} hosts={data?.pages[0]?.hosts ?? []} />
      </div>
      {error && <NotRead what="The environments" error={error} onAgain={refetch} />}
      {!environments && !error && (
        <Skeleton height={320} radius="lg" role="status" aria-label="Reading the environments" />
      )}
      {environments?.length === 0 && <EmptyState title="There is no such environment" bare />}
      {environments && environments.length > 0 && <EnvironmentTable environments={environments} />}
      {hasNextPage && (
        <p className={list.more}>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show older environments
          </Button>
        </p>
      )}
    </section>
  );
}

function Filters({ view, onView, hosts }: Props & { readonly hosts: readonly string[] }) {
  const known = view.host === "" || hosts.includes(view.host) ? hosts : [view.host, ...hosts];
  return (
    <>
      <Select
        label="State"
        data={environmentFilters.map((value) => ({ value, label: filterLabels[value] }))}
        value={view.status}
        onChange={(value) => onView({ status: environmentFilters.find((each) => each === value) ?? "living" })}
        allowDeselect={false}
        withScrollArea={false}
      />
      <Select
        label="Host"
        data={[{ value: "", label: "Every host" }, ...known.map((value) => ({ value, label: value }))]}
        value={view.host}
        onChange={(host) => onView({ host: host ?? "" })}
        allowDeselect={false}
        withScrollArea={false}
      />
    </>
  );
}

const columns = ["Environment", "Owner", "Type", "Host", "State"];

function EnvironmentTable({ environments }: { readonly environments: readonly ListedEnvironment[] }) {
  const { one } = useUnit();
  return (
    <Table className={list.rows} columns={columns}>
      {environments.map((environment) => {
        const { id, subdomain, email, user_id, container_type, gpu_count, host_id } = environment;
        return (
          <tr key={id}>
            <th scope="row" data-label="Environment">
              <Link className="link target" to={`/environments/${id}`}>
                {subdomain}
              </Link>
            </th>
            <td data-label="Owner">
              <Owner id={user_id} email={email} />
            </td>
            <td data-label="Type">
              {container_type}, {plural(gpu_count, one)}
            </td>
            <td data-label="Host">{host_id}</td>
            <td data-label="State">
              <EnvironmentState environment={environment} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
