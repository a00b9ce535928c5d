import type { Order, OrderState } from "@berth/contract";
import { plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useSession } from "../../api/session.ts";
import { useUnit } from "../../api/use-unit.ts";
import { typeName } from "../../content/environment-types.ts";
import { capitalised } from "../../content/number-word.ts";
import { orderStateTexts } from "../../content/order-texts.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { rateText } from "../../format.ts";
import { supportPath } from "../../ui/controls/support-path.ts";
import { type Fact, Facts } from "../../ui/display/facts.tsx";
import { NamedSlots } from "../../ui/display/slots.tsx";
import { Tag, type Tone } from "../../ui/display/status.tsx";
import { Total } from "../../ui/display/total.tsx";
import { ReceiptButton } from "../receipt-button.tsx";
import { amountText } from "../statement.ts";
import classes from "./order-page.module.css";
import { RefundRequest } from "./refund-request.tsx";

const tones: Readonly<Record<OrderState, Tone>> = {
  awaiting_payment: "wait",
  payment_closed: "rest",
  expired: "rest",
  starting: "wait",
  delivered: "live",
  ended: "rest",
  cancelled: "rest",
  not_delivered: "fail",
  too_late: "hold",
  wrong_amount: "hold",
  refunded: "rest",
};

function totalLabel({ amount, money }: Order): string {
  if (amount === 0) return "Total";
  if (money.charged > 0) return "Charged";
  return money.place === "being_checked" ? "Being checked" : "Not charged";
}

export function OrderSummary({ order }: { readonly order: Order }) {
  const { money, state, references } = order;
  const charged = money.charged > 0;
  const support = { issue: "payment_issues", session: references.session, payment: references.payment } as const;
  return (
    <aside className={`panel ${classes.summary}`} aria-label="Order">
      <div className={classes.head}>
        <h2 className="section-title">Order</h2>
        <Tag tone={tones[state]}>{orderStateTexts[state]}</Tag>
      </div>
      <Facts facts={boughtFacts(order, useUnit())} />
      <Total
        label={totalLabel(order)}
        amount={charged ? amountText(money.charged, money.currency) : amountText(order.amount, order.currency)}
        notes={(
          [
            [money.refunded, "went back"],
            [money.disputed, "disputed"],
            [money.refunding, "goes back"],
          ] as const
        ).flatMap(([sum, text]) => (sum > 0 ? [`${amountText(sum, money.currency)} ${text}`] : []))}
      />
      <div className={classes.actions}>
        <Papers paper="Receipt" numbers={order.receipts} />
        <Papers paper="Credit note" numbers={order.credit_notes} />
        {order.may_ask_refund && <RefundRequest order={order} />}
        <Button component={Link} to={supportPath(support)} variant="subtle">
          Get support
        </Button>
      </div>
    </aside>
  );
}

/** Numbers the buttons if there are several. */
function Papers({
  paper,
  numbers,
}: {
  readonly paper: "Receipt" | "Credit note";
  readonly numbers: readonly string[];
}) {
  const userId = useSession()?.userId ?? "";
  return numbers.map((number) => (
    <ReceiptButton key={number} userId={userId} number={number} paper={paper} size="sm" variant="default">
      {numbers.length === 1 ? paper : `${paper} ${number}`}
    </ReceiptButton>
  ));
}

function boughtFacts(order: Order, unit: UnitWords): Fact[] {
  const { subdomain, gpu_count, duration_hours, extends: more, currency, rate, paid_with, references } = order;
  return [
    {
      label: more ? "More time for" : "Environment",
      value:
        references.environment === null ? (
          subdomain
        ) : (
          <Link className="link target" to={`/environments/${references.environment}`}>
            {subdomain}
          </Link>
        ),
    },
    { label: "Type", value: typeName(order.container_type) },
    {
      label: capitalised(unit.all),
      value: <NamedSlots filled={gpu_count}>{plural(gpu_count, unit.one)}</NamedSlots>,
    },
    { label: "Duration", value: plural(duration_hours, "hour") },
    { label: "List price", value: amountText(order.list_price) },
    ...(rate === null ? [] : [{ label: "Rate", value: `1 USD = ${rateText(rate, currency)}` }]),
    ...(paid_with === null ? [] : [{ label: "Paid with", value: paid_with }]),
  ];
}
