import { actOnGpu, type GpuAct, type OperatedGpu } from "@berth/contract/console/machines";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { capitalised } from "../../content/number-word.ts";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { useUnit } from "../frame/use-unit.ts";
import classes from "./slot-row.module.css";
import { holderOf } from "./slots-of.ts";

interface Props {
  readonly gpus: readonly OperatedGpu[];
  readonly onAct: (request: ActRequest) => void;
}

/** The same as a list, to quarantine or release one; closed, because hosts are drawn as their cells. */
export function GpuTable({ gpus, onAct }: Props) {
  const words = useUnit();
  const [unit, units] = [capitalised(words.one), capitalised(words.all)];
  const several = new Set(gpus.map(({ host_id }) => host_id)).size > 1;
  const columns = [unit, ...(several ? ["Host"] : []), "State", "Holder", { label: "Actions", end: true }];
  return (
    <section aria-label={units}>
      <details className={classes.list}>
        <summary>{units} in a list, to quarantine or release one</summary>
        <Table className={list.rows} columns={columns}>
          {gpus.map((gpu) => (
            <tr key={gpu.id}>
              <th scope="row" data-label={unit}>
                {gpu.id}
                <small>{gpu.model || "CPU slot"}</small>
              </th>
              {several && <td data-label="Host">{gpu.host_id}</td>}
              <td data-label="State">
                <GpuState gpu={gpu} />
              </td>
              <td data-label="Holder">
                <Holder gpu={gpu} />
              </td>
              <td data-end>
                <div className={list.actions}>{actOf(gpu) && <GpuButton gpu={gpu} onAct={onAct} />}</div>
              </td>
            </tr>
          ))}
        </Table>
      </details>
    </section>
  );
}

function Holder({ gpu: { lease, holder } }: { readonly gpu: OperatedGpu }) {
  const { text, to } = lease === null ? {} : holderOf(lease);
  if (to === undefined) return holder ?? "Nobody";
  return (
    <Link className="link target" to={to}>
      {text}
    </Link>
  );
}

function GpuState({
  gpu: { quarantined_at, quarantine_reason, withheld_reason, lease },
}: {
  readonly gpu: OperatedGpu;
}) {
  if (quarantined_at)
    return (
      <>
        <Tag tone="hold">
          {quarantine_reason ? "Quarantined" : "Not offered"} since {dateTime(quarantined_at)}
        </Tag>
        <small>{quarantine_reason || withheld_reason || "Its host has no room for it, or has it no more"}</small>
      </>
    );
  return lease ? <Tag>{lease.kind === "environment" ? "Leased" : "Held"}</Tag> : <Tag tone="live">Free</Tag>;
}

function GpuButton({ gpu, onAct }: { readonly gpu: OperatedGpu; readonly onAct: Props["onAct"] }) {
  const { id } = gpu;
  const act = actOf(gpu) ?? "quarantine";
  const { label, consequences } = texts[act];
  const request = {
    ...{ title: `${label} ${id}`, action: label, consequences },
    run: (reason: string) => callConsole(actOnGpu, { params: { id, act }, body: { reason } }),
  };
  return (
    <Button variant="subtle" aria-label={`${label} ${id}`} onClick={() => onAct(request)}>
      {label}
    </Button>
  );
}

const texts: Readonly<Record<GpuAct, { readonly label: string; readonly consequences: string }>> = {
  quarantine: {
    label: "Quarantine",
    consequences: "It is not leased any more. Whoever has it keeps it to the end. The reason stands beside it.",
  },
  release: { label: "Release", consequences: "It is leased again." },
};

/** What its host does not offer is leased again when it does. */
function actOf({ quarantined_at, quarantine_reason }: OperatedGpu): GpuAct | undefined {
  if (!quarantined_at) return "quarantine";
  return quarantine_reason === "" ? undefined : "release";
}
