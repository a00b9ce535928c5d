import type { MoneyPlace, Order } from "@berth/contract";
import { type MoneySums, moneySentence } from "../../content/order-texts.ts";
import { date } from "../../format.ts";
import type { Tone } from "../../ui/display/status.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { amountText } from "../statement.ts";
import classes from "./order-page.module.css";

const tones: Readonly<Record<MoneyPlace, Tone>> = {
  nothing_taken: "rest",
  being_checked: "wait",
  held: "wait",
  delivered: "live",
  refund_started: "wait",
  refunded: "rest",
  partly_refunded: "rest",
  needs_person: "fail",
  disputed: "hold",
  taken_back: "rest",
};

/** The state of the money in one sentence; a screen reader announces changes. */
export function OrderMoney({ order }: { readonly order: Order }) {
  const now = useNow(60_000);
  const { title, text } = moneySentence(order.money.place, sumsOf(order, now));
  return (
    <section className={classes.money} data-tone={tones[order.money.place]} aria-labelledby="money-title" role="status">
      <p className="eyebrow">Where the money is</p>
      <h2 id="money-title">{title}</h2>
      <p>
        {text}
        {order.test_mode && " Test mode: no money moves."}
      </p>
    </section>
  );
}

function sumsOf({ money, method, amount, currency, state }: Order, now: number): MoneySums {
  const { expected_by } = money;
  return {
    amount: amountText(amount, currency),
    charged: amountText(money.charged, money.currency),
    refunding: amountText(money.refunding, money.currency),
    refunded: amountText(money.refunded, money.currency),
    disputed: amountText(money.disputed, money.currency),
    method,
    expectedBy: expected_by === null ? undefined : date(expected_by),
    isBack: expected_by !== null && Date.parse(expected_by) < now,
    closed: state !== "awaiting_payment",
    isFree: amount === 0,
  };
}
