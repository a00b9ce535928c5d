import { plural } from "@berth/contract";
import type { Overview } from "@berth/contract/console/overview";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { Notice } from "../../ui/display/notice.tsx";
import classes from "./now-page.module.css";

/** What waits for a person; nothing on a quiet day. */
export function Waiting({ waiting: { refund_requests, disputes, tickets, mining } }: Pick<Overview, "waiting">) {
  const rows = [
    { count: refund_requests, what: "refund request", still: "to decide", action: "Decide", to: "/orders" },
    { count: disputes, what: "dispute", still: "to answer in the provider's dashboard", action: "Look", to: "/orders" },
    { count: tickets, what: "ticket", still: "to answer", action: "Answer", to: "/messages" },
    { count: mining, what: "finding", still: "of the mining detector to decide", action: "Judge", to: "/environments" },
  ].filter(({ count }) => count > 0);
  if (rows.length === 0) return null;
  return (
    <section className={classes.findings} aria-label="Waiting">
      {rows.map(({ count, what, still, action, to }) => (
        <Notice
          key={action}
          tone="hold"
          title={`${plural(count, what)} ${still}`}
          action={
            <Button component={Link} to={to} variant="default">
              {action}
            </Button>
          }
        />
      ))}
    </section>
  );
}
