import { ActionIcon, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Bell } from "lucide-react";
import { notificationsQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { NotificationList } from "./notification-list.tsx";
import classes from "./notifications.module.css";

/** The bell with the number of unread notifications (G53). */
export function NotificationBell() {
  const userId = useSession()?.userId ?? "";
  const [opened, { toggle, close }] = useDisclosure(false);
  const unread = useQuery(notificationsQuery(userId)).data?.unread ?? 0;
  return (
    <Popover
      opened={opened}
      onChange={(next) => !next && close()}
      position="bottom-end"
      width={360}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          size={34}
          className={classes.bell}
          aria-label={unread > 0 ? `Notifications, ${unread} unread` : "Notifications"}
          onClick={toggle}
        >
          <Bell size={16} strokeWidth={1.6} aria-hidden="true" />
          {unread > 0 && (
            <span className={classes.badge} aria-hidden="true" data-testid="unread">
              {unread > 99 ? "99+" : unread}
            </span>
          )}
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown}>
        <NotificationList userId={userId} onLeave={close} />
      </Popover.Dropdown>
    </Popover>
  );
}
