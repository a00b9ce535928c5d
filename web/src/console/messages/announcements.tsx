import { plural } from "@berth/contract";
import { readAnnouncements, type SentAnnouncement } from "@berth/contract/console/messages";
import { Button } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import classes from "./messages.module.css";

/** The newest announcements, and whom a new one would reach; read again while one is on its way. */
export const announcementsQuery = queryOptions({
  queryKey: ["announcements"],
  queryFn: ({ signal }) => callConsole(readAnnouncements, { params: {}, body: {} }, signal),
  refetchInterval: ({ state }) => (state.data?.announcements.some(({ is_done }) => !is_done) ? 2_000 : false),
});

export const audienceNames: Readonly<Record<string, string>> = { all: "Everybody", renters: "Those who rent now" };

export function Announcements() {
  const { data, error, refetch } = useQuery(announcementsQuery);
  return (
    <section className={classes.section} aria-label="Announcements">
      <div className={list.head}>
        <h2 className={list.title}>Announcements</h2>
        <Button component={Link} to="/messages/announce" variant="default">
          Write an announcement
        </Button>
      </div>
      {error && <NotRead what="The announcements" error={error} onAgain={refetch} />}
      {data?.announcements.length === 0 && <p className={list.hint}>Nothing was announced yet.</p>}
      {data && data.announcements.length > 0 && <Sent announcements={data.announcements} />}
    </section>
  );
}

function Sent({ announcements }: { readonly announcements: readonly SentAnnouncement[] }) {
  return (
    <Table className={list.rows} columns={["Announcement", "Time", "To", "State"]}>
      {announcements.map(({ id, title, body, created_at, audience, by_mail, notified, is_done }) => (
        <tr key={id}>
          <th scope="row" data-label="Title">
            {title}
            <small className={classes.clamped}>{body}</small>
          </th>
          <td data-label="Time">{dateTime(created_at)}</td>
          <td data-label="To">
            {audienceNames[audience] ?? audience}
            <small>{by_mail ? "By bell and mail" : "By bell"}</small>
          </td>
          <td data-label="State">
            {is_done ? <Tag tone="live">Sent</Tag> : <Tag tone="wait">On its way</Tag>}
            <small>{plural(notified, "account")} notified</small>
          </td>
        </tr>
      ))}
    </Table>
  );
}
