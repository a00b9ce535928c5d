import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { Link, useParams } from "react-router";
import { useBrand } from "../api/brand.ts";
import { ApiError } from "../api/client.ts";
import { orderQuery } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { notices } from "../content/notices.ts";
import { Blank, FreeSlots } from "../ui/blank.tsx";
import { Notice } from "../ui/notice.tsx";
import { usePrinting } from "../ui/use-printing.ts";
import { reasonOf } from "./figures.ts";
import { OrderMoney } from "./order-money.tsx";
import classes from "./order-page.module.css";
import { OrderReferences } from "./order-references.tsx";
import { OrderSkeleton } from "./order-skeleton.tsx";
import { OrderSummary } from "./order-summary.tsx";
import { OrderTimeline } from "./order-timeline.tsx";

/** One order, and where its money is (G14, G16, G70). It changes by itself when something happens. */
export function OrderPage() {
  const { orderId = "" } = useParams();
  const { data: order, error, refetch } = useQuery(orderQuery(orderId));
  const again = <Button onClick={() => void refetch()}>{notices.tryAgain}</Button>;
  if (!order) return <Unread error={error} again={again} />;
  return (
    <div className={classes.page}>
      <Letterhead />
      <Back />
      {error && (
        <Notice tone="fail" title="This order could not be read again" action={again}>
          {reasonOf(error)}. What stands here is from before.
        </Notice>
      )}
      <div className={classes.columns}>
        <div className={classes.story}>
          <OrderMoney order={order} />
          <section aria-labelledby="timeline-title">
            <h2 id="timeline-title" className="section-title">
              What happened
            </h2>
            <OrderTimeline order={order} />
          </section>
        </div>
        <OrderSummary order={order} />
        <OrderReferences order={order} />
      </div>
    </div>
  );
}

function Unread({ error, again }: { readonly error: Error | null; readonly again: React.ReactNode }) {
  if (!error) return <OrderSkeleton back={<Back />} />;
  const unknown = error instanceof ApiError && error.status === 404;
  return (
    <div className={classes.page}>
      <Back />
      {unknown ? (
        <Blank
          title="There is no such order"
          picture={<FreeSlots />}
          action={
            <Button component={Link} to={history}>
              Payment History
            </Button>
          }
        >
          The address may be mistyped, or the order is another account's. Every payment of yours stands in Payment
          History.
        </Blank>
      ) : (
        <Blank title="Unable to load this order" picture={<FreeSlots failed />} action={again}>
          {reasonOf(error)}. Your money and your environments are not affected.
        </Blank>
      )}
    </div>
  );
}

const history = "/billing?tab=invoices";

function Back() {
  return (
    <Link to={history} className={classes.back}>
      <ArrowLeft size={14} strokeWidth={1.6} aria-hidden="true" />
      Payment History
    </Link>
  );
}

/** On paper the frame is gone: of whom and from whom. */
function Letterhead() {
  const { name, email } = useBrand();
  const session = useSession();
  if (!usePrinting()) return null;
  return (
    <header className={classes.letterhead}>
      <h1>Order</h1>
      <p>
        {session?.email}, {name} ({email})
      </p>
    </header>
  );
}
