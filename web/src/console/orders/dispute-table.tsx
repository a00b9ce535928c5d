import type { OpenDispute } from "@berth/contract/console/orders";
import { Link } from "react-router";
import { dateTime, money } from "../../format.ts";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";
import { Owner } from "../frame/owner.tsx";

const columns = ["Environment", "Answer by", "Owner", "Dispute", { label: "Amount", end: true }];

/** The next to respond to first. */
export function DisputeTable({ disputes }: { readonly disputes: readonly OpenDispute[] }) {
  return (
    <Table className={list.rows} columns={columns}>
      {disputes.map(({ gateway_dispute_id, order_id, subdomain, respond_by, email, user_id, ...dispute }) => (
        <tr key={gateway_dispute_id}>
          <th scope="row" data-label="Environment">
            <Link className="link target" to={`/orders/${order_id}`} aria-label={`${subdomain}, disputed`}>
              {subdomain}
            </Link>
          </th>
          <td data-label="Answer by">{respond_by === null ? "Not said" : dateTime(respond_by)}</td>
          <td data-label="Owner">
            <Owner id={user_id} email={email} />
          </td>
          <td data-label="Dispute">
            {dispute.phase}
            {dispute.reason_code !== null && `, ${dispute.reason_code}`}
            <small className="mono">{gateway_dispute_id}</small>
          </td>
          <td data-label="Amount" data-end>
            {money(dispute.amount_minor, dispute.currency)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
