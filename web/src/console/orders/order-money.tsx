import type { MoneyPlace, Order } from "@berth/contract";
import { plural } from "@berth/contract";
import type { OperatedOrder } from "@berth/contract/console/orders";
import { Link } from "react-router";
import { amountText } from "../../billing/statement.ts";
import { typeName } from "../../content/environment-types.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { rateText } from "../../format.ts";
import { type Fact, Facts } from "../../ui/display/facts.tsx";
import { Tag, type Tone } from "../../ui/display/status.tsx";
import detail from "../frame/detail.module.css";
import { Owner } from "../frame/owner.tsx";
import { useUnit } from "../frame/use-unit.ts";

const places: Readonly<Record<MoneyPlace, readonly [Tone, string]>> = {
  nothing_taken: ["rest", "Nothing was taken"],
  being_checked: ["wait", "Not confirmed yet"],
  held: ["wait", "Paid, starting"],
  delivered: ["live", "Paid and delivered"],
  refund_started: ["wait", "On its way back"],
  refunded: ["rest", "Paid back"],
  partly_refunded: ["hold", "Partly paid back"],
  needs_person: ["fail", "Refund is stuck"],
  disputed: ["hold", "Disputed"],
  taken_back: ["rest", "Taken by the bank"],
};

/** What was bought, by whom, and where the money is. */
export function OrderMoney({ operated: { order, owner } }: { readonly operated: OperatedOrder }) {
  const [tone, label] = places[order.money.place];
  const unit = useUnit();
  return (
    <aside className={`panel ${detail.about}`} aria-label="Money">
      <div className={detail.aboutHead}>
        <h3 className="section-title">Money</h3>
        <Tag tone={tone}>{label}</Tag>
      </div>
      <Facts facts={[...moneyFacts(order), ...boughtFacts(order, owner, unit)]} />
    </aside>
  );
}

function moneyFacts({ money: { charged, refunding, refunded, disputed, currency }, test_mode }: Order): Fact[] {
  const sums = [
    ["Charged", charged],
    ["Goes back", refunding],
    ["Went back", refunded],
    ["Disputed", disputed],
  ] as const;
  return [
    ...sums.flatMap(([label, sum], index) =>
      index === 0 || sum > 0 ? [{ label, value: amountText(sum, currency) }] : [],
    ),
    ...(test_mode ? [{ label: "Mode", value: "Test: no money moves" }] : []),
  ];
}

function boughtFacts(order: Order, owner: OperatedOrder["owner"], { one }: UnitWords): Fact[] {
  const { container_type, gpu_count, duration_hours, amount, currency, rate, list_price, paid_with } = order;
  const { environment } = order.references;
  return [
    { label: "Owner", value: <Owner {...owner} /> },
    ...(environment === null ? [] : [{ label: "Environment", value: <Environment id={environment} /> }]),
    { label: order.extends ? "More time for" : "Bought", value: plural(duration_hours, "hour") },
    { label: "Type", value: `${typeName(container_type)}, ${plural(gpu_count, one)}` },
    { label: "Price", value: amountText(amount, currency) },
    ...(rate === null
      ? []
      : [{ label: "List price", value: `${amountText(list_price)} at ${rateText(rate, currency)}` }]),
    ...(paid_with === null ? [] : [{ label: "Paid with", value: paid_with }]),
  ];
}

function Environment({ id }: { readonly id: string }) {
  return (
    <Link className="link target" to={`/environments/${id}`}>
      {id.slice(0, 8)}…
    </Link>
  );
}
