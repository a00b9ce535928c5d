import type { Credit } from "@berth/contract";
import { type OperatedCredit, revokeCredit } from "@berth/contract/console/credits";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { Owner } from "../frame/owner.tsx";
import { gpuHoursText } from "./credit-text.ts";

interface Props {
  readonly credits: readonly OperatedCredit[];
  /** On the page of an account its owner is known, and what is no longer open is shown too. */
  readonly ofOne?: boolean;
  readonly onAct: (request: ActRequest) => void;
}

const sources: Readonly<Record<Credit["source"], string>> = {
  undelivered: "A launch that was not delivered",
  operator: "An operator",
  voucher: "A voucher",
  returned: "Came back with a refund",
};

/** Credits, and the way to take one back. */
export function CreditTable({ credits, ofOne = false, onAct }: Props) {
  const columns = [
    ...(ofOne ? [] : ["Account"]),
    "Credit",
    "From",
    "Granted",
    "State",
    { label: "Actions", end: true },
  ];
  return (
    <Table className={list.rows} columns={columns}>
      {credits.map((credit) => (
        <tr key={credit.id}>
          {!ofOne && (
            <td data-label="Account">
              <Owner id={credit.user_id} email={credit.email} />
            </td>
          )}
          <th scope="row" data-label="Credit">
            {gpuHoursText(credit.gpu_hours)}
          </th>
          <td data-label="From">
            {sources[credit.source]}
            {credit.note !== "" && <small>{credit.note}</small>}
          </td>
          <td data-label="Granted">{dateTime(credit.granted_at)}</td>
          <td data-label="State">
            <State credit={credit} />
          </td>
          <td data-end>
            <div className={list.actions}>{canRevoke(credit) && <RevokeButton credit={credit} onAct={onAct} />}</div>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function State({ credit: { state, used_by_order: order } }: { readonly credit: OperatedCredit }) {
  if (order !== null)
    return (
      <Link className="link target" to={`/orders/${order}`}>
        Used
      </Link>
    );
  return state === "revoked" ? <Tag>Revoked</Tag> : <Tag tone="live">Open</Tag>;
}

/** What is owed for a launch that was not delivered cannot be taken back. */
function canRevoke({ state, source }: OperatedCredit): boolean {
  return state === "open" && source !== "undelivered";
}

interface ButtonProps {
  readonly credit: OperatedCredit;
  readonly onAct: Props["onAct"];
}

function RevokeButton({ credit: { id, user_id, email, gpu_hours }, onAct }: ButtonProps) {
  const label = `Revoke ${gpuHoursText(gpu_hours)} of ${email ?? user_id}`;
  return (
    <Button variant="subtle" aria-label={label} onClick={() => onAct(revocation(id, gpu_hours))}>
      Revoke
    </Button>
  );
}

function revocation(id: string, gpuHours: number): ActRequest {
  return {
    title: `Revoke ${gpuHoursText(gpuHours)}`,
    action: "Revoke",
    consequences: "The credit is taken back. One that an order has used meanwhile stays.",
    reasonHint: "Its owner reads it by bell and mail, and the audit keeps it.",
    run: (reason) => callConsole(revokeCredit, { params: { id }, body: { reason } }),
  };
}
