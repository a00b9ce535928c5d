import { searchTickets, type Ticket } from "@berth/contract/console/messages";
import { Button, Skeleton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { dateTime } from "../../format.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { Pager } from "../frame/pager.tsx";
import { useListAddress } from "../frame/use-list-address.ts";
import { Announcements } from "./announcements.tsx";
import classes from "./messages.module.css";

/** Tickets that wait for an answer, oldest first, and what was announced. */
export function MessagesPage() {
  const { filter, page, setFilter, setPage } = useListAddress("tickets");
  const all = filter === "all";
  const { data, error, refetch } = useQuery({
    queryKey: ["tickets", all, page],
    queryFn: ({ signal }) => callConsole(searchTickets, { params: {}, body: { all, page } }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={list.page}>
      <section className={classes.section} aria-label="Tickets">
        <div className={list.head}>
          <h2 className={list.title}>{all ? "All tickets, newest first" : "Open tickets, oldest first"}</h2>
          <Button variant="default" onClick={() => setFilter(all ? "" : "all")}>
            {all ? "Show the open ones" : "Show all"}
          </Button>
        </div>
        {error && <NotRead what="The tickets" error={error} onAgain={refetch} />}
        {!data && !error && <Skeleton height={240} radius="lg" role="status" aria-label="Reading the tickets" />}
        {data?.total === 0 && <EmptyState title={all ? "Nobody has asked yet" : "Every ticket is answered"} bare />}
        {data && data.tickets.length > 0 && <Tickets tickets={data.tickets} />}
        {data && <Pager page={page} perPage={data.per_page} total={data.total} onPage={setPage} />}
      </section>
      <Announcements />
    </div>
  );
}

function Tickets({ tickets }: { readonly tickets: readonly Ticket[] }) {
  return (
    <Table className={list.rows} columns={["Ticket", "Since", "About", "Text", "State"]}>
      {tickets.map((ticket) => (
        <tr key={ticket.id}>
          <th scope="row" data-label="Ticket">
            <Link to={`/messages/${ticket.id}`} className="link target">
              {ticket.code}
            </Link>
            <small>{ticket.email}</small>
          </th>
          <td data-label="Since">{dateTime(ticket.created_at)}</td>
          <td data-label="About">{ticket.issue_type.replaceAll("_", " ")}</td>
          <td data-label="Text">
            <span className={classes.clamped}>{ticket.description}</span>
          </td>
          <td data-label="State">
            <TicketState ticket={ticket} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function TicketState({ ticket: { answered_at, closed_at } }: { readonly ticket: Ticket }) {
  if (closed_at) return <Tag>Closed {dateTime(closed_at)}</Tag>;
  return answered_at ? <Tag tone="live">Answered {dateTime(answered_at)}</Tag> : <Tag tone="hold">Open</Tag>;
}
