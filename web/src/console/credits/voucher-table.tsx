import { plural } from "@berth/contract";
import { revokeVouchers, type VoucherKind } from "@berth/contract/console/credits";
import { Button } from "@mantine/core";
import { date, dateTime } from "../../format.ts";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { gpuHoursText } from "./credit-text.ts";

interface Props {
  readonly vouchers: readonly VoucherKind[];
  readonly onAct: (request: ActRequest) => void;
}

const columns = ["For", "Each", "Made", "Redeemed", "Until", "Open", { label: "Actions", end: true }];

/** The kinds of codes, newest first; the codes themselves are stored nowhere (G156). */
export function VoucherTable({ vouchers, onAct }: Props) {
  return (
    <Table className={list.rows} columns={columns}>
      {vouchers.map((kind) => (
        <tr key={kind.id}>
          <th scope="row" data-label="For">
            {kind.reason}
            <small className="mono">{kind.id}</small>
          </th>
          <td data-label="Each">{gpuHoursText(kind.gpu_hours)}</td>
          <td data-label="Made">
            {plural(kind.codes, "code")}
            <small>{date(kind.created_at)}</small>
          </td>
          <td data-label="Redeemed">
            {kind.redeemed}
            {kind.per_month !== null && <small>at most {kind.per_month} a month</small>}
          </td>
          <td data-label="Until">{kind.expires_at === null ? "No end" : dateTime(kind.expires_at)}</td>
          <td data-label="Open">
            {openOf(kind)}
            {kind.revoked > 0 && <small>{kind.revoked} revoked</small>}
          </td>
          <td data-end>
            <div className={list.actions}>{openOf(kind) > 0 && <RevokeButton kind={kind} onAct={onAct} />}</div>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function openOf({ codes, redeemed, revoked }: VoucherKind): number {
  return codes - redeemed - revoked;
}

function RevokeButton({ kind, onAct }: { readonly kind: VoucherKind; readonly onAct: Props["onAct"] }) {
  return (
    <Button variant="subtle" aria-label={`Revoke ${kind.reason}`} onClick={() => onAct(revocation(kind))}>
      Revoke
    </Button>
  );
}

function revocation(kind: VoucherKind): ActRequest {
  const { id, reason: name } = kind;
  return {
    title: `Revoke the open codes of ${name}`,
    action: "Revoke",
    consequences: `${plural(openOf(kind), "code")} can no longer be redeemed, for good. Credits that others have brought stay.`,
    run: (reason) => callConsole(revokeVouchers, { params: {}, body: { voucher: id, reason } }),
  };
}
