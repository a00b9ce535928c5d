import type { WaitingRefund } from "@berth/contract/console/orders";
import { Link } from "react-router";
import { refundRequestTexts } from "../../content/order-texts.ts";
import { dateTime, money } from "../../format.ts";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";
import { Owner } from "../frame/owner.tsx";

const columns = [
  "Environment",
  "Requested",
  "Owner",
  "Why",
  { label: "Paid", end: true },
  { label: "Unused", end: true },
];

/** The oldest first; the decision is made on the page of the order. */
export function RequestTable({ requests }: { readonly requests: readonly WaitingRefund[] }) {
  return (
    <Table className={list.rows} columns={columns}>
      {requests.map(({ order_id, subdomain, created_at, email, user_id, reason, text, currency, ...minor }) => (
        <tr key={order_id}>
          <th scope="row" data-label="Environment">
            <Link className="link target" to={`/orders/${order_id}`} aria-label={`Decide about ${subdomain}`}>
              {subdomain}
            </Link>
          </th>
          <td data-label="Requested">{dateTime(created_at)}</td>
          <td data-label="Owner">
            <Owner id={user_id} email={email} />
          </td>
          <td data-label="Why">
            {refundRequestTexts[reason]}
            {text !== "" && <small>{text}</small>}
          </td>
          <td data-label="Paid" data-end>
            {money(minor.amount_minor, currency)}
            {minor.refund_minor > 0 && <small>{money(minor.refund_minor, currency)} refunded</small>}
          </td>
          <td data-label="Unused" data-end>
            {money(minor.prorated_minor, currency)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
