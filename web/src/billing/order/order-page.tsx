import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { orderQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { useBrand } from "../../api/use-brand.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { DetailPage, NotLoaded } from "../../ui/display/detail-page.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { usePrinting } from "../../ui/display/use-printing.ts";
import { reasonOf } from "../statement.ts";
import { OrderMoney } from "./order-money.tsx";
import classes from "./order-page.module.css";
import { OrderReferences } from "./order-references.tsx";
import { OrderSkeleton } from "./order-skeleton.tsx";
import { OrderSummary } from "./order-summary.tsx";
import { OrderTimeline } from "./order-timeline.tsx";

const back = { to: "/billing?tab=invoices", label: "Payment History" };

/** One order and the state of its money (G14, G16, G70), updated live. */
export function OrderPage() {
  const { orderId = "" } = useParams();
  const { data: order, error, refetch } = useQuery(orderQuery(orderId));
  const retry = <Button onClick={() => void refetch()}>{commonTexts.tryAgain}</Button>;
  if (!order)
    return (
      <NotLoaded
        back={back}
        error={error}
        retry={retry}
        loading={<OrderSkeleton />}
        what="order"
        where="Every payment of yours stands in Payment History."
        failed={(why) => `${reasonOf(why)}. Your money and your environments are not affected.`}
      />
    );
  return (
    <DetailPage back={back}>
      <Letterhead />
      {error && (
        <Notice tone="fail" title="This order could not be read again" action={retry}>
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
    </DetailPage>
  );
}

/** Prints the buyer and the seller, because the frame is not printed. */
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
