import type { MoneyState } from "@berth/contract";
import { type Failure, isPaid, type LaunchState } from "./launch-state.ts";

/** The state of the money with the sum (G14); `amount` is formatted. */
export function moneyText(state: MoneyState, amount: string): string {
  switch (state) {
    case "nothing_taken":
      return "Nothing was charged.";
    case "being_checked":
      return `Your payment of ${amount} is being checked. If it arrived, the environment starts by itself and stands under Environments; if it cannot be delivered, the full amount goes back to the card or account that paid.`;
    case "refund_started":
      return `${amount} is on its way back to the card or account that paid (4-5 business days). There is nothing to ask for.`;
    case "refunded":
      return `${amount} went back to the card or account that paid. Banks take 4-5 business days to show it.`;
  }
}

export function failureTitle({ cancelled, money }: Failure): string {
  if (cancelled) return "Launch cancelled";
  return money === "being_checked" ? "No confirmation yet" : "This environment could not be started";
}

export function sumLabel(state: LaunchState): string {
  if (!isPaid(state)) return "Total";
  const money = state.phase === "failed" ? state.failure.money : undefined;
  if (money === "refund_started") return "Refund started";
  if (money === "refunded") return "Refunded";
  if (money === "being_checked") return "Being checked";
  return money === "nothing_taken" ? "Total" : "Paid";
}
