import type { Overview } from "@berth/contract/console/overview";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { plural } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import classes from "./now-page.module.css";

/** What waits for a person; nothing on a quiet day. */
export function Waiting({ waiting: { refund_requests, disputes } }: Pick<Overview, "waiting">) {
  const rows = [
    { count: refund_requests, title: `${plural(refund_requests, "refund request")} to decide`, action: "Decide" },
    { count: disputes, title: `${plural(disputes, "dispute")} to answer in the provider's dashboard`, action: "Look" },
  ].filter(({ count }) => count > 0);
  if (rows.length === 0) return null;
  return (
    <section className={classes.findings} aria-label="Waiting">
      {rows.map(({ title, action }) => (
        <Notice
          key={action}
          tone="hold"
          title={title}
          action={
            <Button component={Link} to="/orders" variant="default">
              {action}
            </Button>
          }
        />
      ))}
    </section>
  );
}
