import { type Notification, readNotifications } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { call } from "../../api/call.ts";
import { keys, notificationsQuery } from "../../api/queries.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { dateTime } from "../../format.ts";
import classes from "./notifications.module.css";

export function NotificationList({ userId, onLeave }: { userId: string; onLeave: () => void }) {
  const list = useQuery(notificationsQuery(userId));
  const read = useMarkRead(userId);
  const all = list.data?.notifications ?? [];
  const nothingToMark = (list.data?.unread ?? 0) === 0;
  return (
    <>
      <div className={classes.head}>
        <h2 className="section-title">Notifications</h2>
        <Button
          size="xs"
          variant="subtle"
          // Not `disabled`, which would lose the focus and with it Escape.
          aria-disabled={nothingToMark}
          data-disabled={nothingToMark}
          onClick={() => {
            if (!nothingToMark) read.mutate([]);
          }}
        >
          Mark all as read
        </Button>
      </div>
      {list.data === undefined && (
        <p className={classes.note}>{list.error ? commonTexts.notificationsFailed : "Loading..."}</p>
      )}
      {list.data !== undefined && all.length === 0 && <p className={classes.note}>{commonTexts.noNotifications}</p>}
      <ul className={classes.list}>
        {all.map((one) => (
          <Item key={one.id} notification={one} onRead={() => !one.read && read.mutate([one.id])} onLeave={onLeave} />
        ))}
      </ul>
    </>
  );
}

interface ItemProps {
  readonly notification: Notification;
  readonly onRead: () => void;
  readonly onLeave: () => void;
}

function Item({ notification: { title, body, link, created_at, read }, onRead, onLeave }: ItemProps) {
  const text = (
    <>
      <strong>{title}</strong>
      <span>{body}</span>
      <time dateTime={created_at}>
        {dateTime(created_at)}
        {!read && <i>Unread</i>}
      </time>
    </>
  );
  const leave = () => {
    onRead();
    onLeave();
  };
  return (
    <li data-unread={!read || undefined}>
      {link === null ? (
        <button type="button" onClick={onRead}>
          {text}
        </button>
      ) : (
        <Link to={link} onClick={leave}>
          {text}
        </Link>
      )}
    </li>
  );
}

function useMarkRead(userId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (ids: string[]) => call(readNotifications, { params: {}, body: { ids } }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.notifications(userId) }),
  });
}
