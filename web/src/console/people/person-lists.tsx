import { plural } from "@berth/contract";
import type { OperatedCredit } from "@berth/contract/console/credits";
import type { Person } from "@berth/contract/console/people";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { capitalised } from "../../content/number-word.ts";
import { dateTime, duration, money } from "../../format.ts";
import { Status, Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { CreditTable } from "../credits/credit-table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import list from "../frame/list.module.css";
import { useUnit } from "../frame/use-unit.ts";
import { orderStatus } from "../orders/order-status.ts";
import classes from "./person-page.module.css";

interface Props {
  readonly person: Person;
  readonly credits: readonly OperatedCredit[];
  readonly onAct: (request: ActRequest) => void;
}

/** Environments, orders and warnings of an account, the newest twenty of each, and its credits. */
export function PersonLists({ person, credits, onAct }: Props) {
  const { environments, orders, warnings, suspensions } = person;
  return (
    <div className={classes.lists}>
      <Section title="Environments" none="None was launched." count={environments.length}>
        <Environments environments={environments} />
      </Section>
      <Section title="Orders" none="Nothing was ordered." count={orders.length}>
        <Orders orders={orders} />
      </Section>
      <Section title="Credits" none="This account has no credits." count={credits.length}>
        <CreditTable credits={credits} ofOne onAct={onAct} />
      </Section>
      <Section
        title="Warnings and suspensions"
        none="No warnings and no suspensions."
        count={warnings.length + suspensions.length}
      >
        <Warnings warnings={warnings} suspensions={suspensions} />
      </Section>
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly none: string;
  readonly count: number;
  readonly children: ReactNode;
}

function Section({ title, none, count, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <h2 className={list.title}>{title}</h2>
      {count > 0 ? children : <p className={list.hint}>{none}</p>}
    </section>
  );
}

function Environments({ environments }: Pick<Person, "environments">) {
  const units = capitalised(`${useUnit().one}s`);
  return (
    <Table className={list.rows} columns={["Name", "State", units, "Host", "Ordered", "Ends"]}>
      {environments.map(({ id, subdomain, status, gpu_count, host_id, requested_at, expires_at, banked_seconds }) => (
        <tr key={id}>
          <th scope="row" data-label="Name">
            <Link className="link target" to={`/environments/${id}`} aria-label={`${subdomain}, environment ${id}`}>
              {subdomain}
            </Link>
          </th>
          <td data-label="State">
            <Status value={status} />
          </td>
          <td data-label={units}>{gpu_count}</td>
          <td data-label="Host">{host_id}</td>
          <td data-label="Ordered">{dateTime(requested_at)}</td>
          <td data-label="Ends">
            {expires_at
              ? dateTime(expires_at)
              : banked_seconds > 0
                ? `${duration(banked_seconds)} left, clock stopped`
                : "Not set"}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Orders({ orders }: Pick<Person, "orders">) {
  const { one } = useUnit();
  return (
    <Table className={list.rows} columns={["Order", "State", "Bought", "Time", { label: "Amount", end: true }]}>
      {orders.map(({ id, status, subdomain, container_type, gpu_count, duration_hours, ...order }) => (
        <tr key={id}>
          <th scope="row" data-label="Order">
            <Link className="link target" to={`/orders/${id}`} aria-label={`${subdomain}, order ${id}`}>
              {subdomain}
            </Link>
            <small className="mono">{id}</small>
          </th>
          <td data-label="State">
            <Tag tone={orderStatus[status].tone}>{orderStatus[status].label}</Tag>
          </td>
          <td data-label="Bought">
            {container_type}, {plural(gpu_count, one)}, {duration_hours} h
          </td>
          <td data-label="Time">{dateTime(order.created_at)}</td>
          <td data-end data-label="Amount">
            {money(order.amount_minor, order.currency)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Warnings({ warnings, suspensions }: Pick<Person, "warnings" | "suspensions">) {
  const rows = [
    ...warnings.map(({ id, warned_at, reason }) => ({ id, at: warned_at, what: "Warning", reason, until: "" })),
    ...suspensions.map(({ id, suspended_at, lifted_at, reason }) => ({
      ...{ id, at: suspended_at, what: "Suspension", reason },
      until: lifted_at ? `Lifted ${dateTime(lifted_at)}` : "Still",
    })),
  ].sort((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <Table className={list.rows} columns={["Time", "What", "Reason"]}>
      {rows.map(({ id, at, what, reason, until }) => (
        <tr key={id}>
          <td data-label="Time">{dateTime(at)}</td>
          <td data-label="What">
            <Tag tone={what === "Warning" ? "hold" : "fail"}>{what}</Tag>
            {until && <small>{until}</small>}
          </td>
          <td data-label="Reason">{reason}</td>
        </tr>
      ))}
    </Table>
  );
}
