import { type OperatedOrder, readOperatedOrder } from "@berth/contract/console/orders";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { OrderReferences } from "../../billing/order/order-references.tsx";
import { OrderTimeline } from "../../billing/order/order-timeline.tsx";
import { refundRequestTexts } from "../../content/order-texts.ts";
import { dateTime } from "../../format.ts";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { ActTable } from "../audit/act-table.tsx";
import { callConsole } from "../frame/call-console.ts";
import detail from "../frame/detail.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { OrderActs } from "./order-acts.tsx";
import { OrderMoney } from "./order-money.tsx";

const back = { to: "/orders", label: "Orders and refunds" };

/** One order: its money, what happened to it in its owner's words, and what can be done. */
export function OrderPage() {
  const { orderId = "" } = useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["order", orderId],
    queryFn: ({ signal }) => callConsole(readOperatedOrder, { params: { id: orderId }, body: {} }, signal),
  });
  return (
    <DetailPage back={back}>
      {error && <NotRead what={`The order ${orderId}`} error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={420} radius="lg" role="status" aria-label="Reading the order" />}
      {data && <Loaded operated={data} />}
    </DetailPage>
  );
}

function Loaded({ operated }: { readonly operated: OperatedOrder }) {
  const { order, request, acts } = operated;
  return (
    <>
      <div className={detail.head}>
        <h2>{order.subdomain}</h2>
        <OrderActs operated={operated} />
      </div>
      {request && (
        <Notice
          tone="hold"
          title={`A refund was asked for, ${dateTime(request.created_at)}: ${refundRequestTexts[request.reason]}`}
        >
          {request.text}
        </Notice>
      )}
      <div className={detail.columns}>
        <div className={detail.story}>
          <section aria-label="What happened">
            <h3 className="section-title">What happened</h3>
            <p className={detail.hint}>In the words that the owner reads.</p>
            <OrderTimeline order={order} base="/orders/" />
          </section>
          {acts.length > 0 && (
            <section aria-label="What operators did">
              <h3 className="section-title">What operators did</h3>
              <ActTable acts={acts} ofOne />
            </section>
          )}
        </div>
        <OrderMoney operated={operated} />
        <OrderReferences order={order} />
      </div>
    </>
  );
}
