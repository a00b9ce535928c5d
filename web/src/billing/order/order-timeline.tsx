import type { Order, OrderFact } from "@berth/contract";
import { plural } from "@berth/contract";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { dateTime } from "../../format.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import classes from "./order-page.module.css";
import { foldAttempts, timelineEntry } from "./timeline-entry.ts";

interface TimelineProps {
  readonly order: Order;
  /** Address of an order's page, without its id. */
  readonly base?: string;
}

/** Facts with their times, oldest first; pending ones come last, without a time. */
export function OrderTimeline({ order, base = "/billing/orders/" }: TimelineProps) {
  return (
    <ol className={classes.timeline}>
      {foldAttempts(order.timeline).map((entry, index) =>
        "kind" in entry ? (
          <Fact key={index} fact={entry} order={order} base={base} />
        ) : (
          <Folded key={index} facts={entry} order={order} base={base} />
        ),
      )}
    </ol>
  );
}

interface Props extends Required<TimelineProps> {
  readonly fact: OrderFact;
}

function Fact({ fact, order, base }: Props) {
  const { title, text, state, reference } = timelineEntry(fact, order);
  return (
    <Item state={state} at={fact.at}>
      <strong>{title}</strong>
      {text !== "" && <span>{text}</span>}
      {fact.order_id !== undefined && (
        <Link className="link target" to={`${base}${fact.order_id}`}>
          See that order
        </Link>
      )}
      {reference !== undefined && fact.reference !== undefined && (
        <small>
          {reference === "bank reference" ? "Bank reference" : "Payment"}{" "}
          <CopyText value={fact.reference} label={reference} />
        </small>
      )}
    </Item>
  );
}

function Folded({ facts, ...about }: Omit<Props, "fact"> & { readonly facts: readonly OrderFact[] }) {
  return (
    <Item state="failed" at={facts[0]?.at ?? null}>
      <details>
        <summary>{plural(facts.length, "earlier payment")} failed</summary>
        <ol className={classes.timeline}>
          {facts.map((fact) => (
            <Fact key={fact.reference} fact={fact} {...about} />
          ))}
        </ol>
      </details>
    </Item>
  );
}

function Item({
  state,
  at,
  children,
}: {
  readonly state: "done" | "failed" | "running";
  readonly at: string | null;
  readonly children: ReactNode;
}) {
  return (
    <li data-state={state} aria-current={state === "running" ? "step" : undefined}>
      <i className={classes.node} aria-hidden="true" />
      {children}
      {at === null ? <span className={classes.now}>Now</span> : <time dateTime={at}>{dateTime(at)}</time>}
    </li>
  );
}
