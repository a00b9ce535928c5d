import { actOnGpu, type GpuAct, type OperatedGpu } from "@berth/contract/console/machines";
import { Button } from "@mantine/core";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";

interface Props {
  readonly gpus: readonly OperatedGpu[];
  readonly onAct: (request: ActRequest) => void;
}

const columns = ["GPU", "Host", "State", "Holder", { label: "Actions", end: true }];

export function GpuTable({ gpus, onAct }: Props) {
  return (
    <section aria-label="GPUs">
      <h2 className={list.title}>GPUs</h2>
      <Table className={list.rows} columns={columns}>
        {gpus.map((gpu) => (
          <tr key={gpu.id}>
            <th scope="row" data-label="GPU">
              {gpu.id}
              <small>{gpu.model || "CPU slot"}</small>
            </th>
            <td data-label="Host">{gpu.host_id}</td>
            <td data-label="State">
              <GpuState gpu={gpu} />
            </td>
            <td data-label="Holder">{gpu.holder ?? "Nobody"}</td>
            <td data-end>
              <div className={list.actions}>{actOf(gpu) && <GpuButton gpu={gpu} onAct={onAct} />}</div>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function GpuState({
  gpu: { quarantined_at, quarantine_reason, withheld_reason, holder },
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
  return holder ? <Tag>Leased</Tag> : <Tag tone="live">Free</Tag>;
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
