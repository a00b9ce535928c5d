import { plural } from "@berth/contract";
import { actOnHost, type HostAct, type OperatedGpu, type OperatedHost } from "@berth/contract/console/machines";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { capitalised } from "../../content/number-word.ts";
import { unitWords } from "../../content/unit-words.ts";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { useUnit } from "../frame/use-unit.ts";
import classes from "./slot-row.module.css";
import { SlotRow } from "./slot-row.tsx";

interface Props {
  readonly hosts: readonly OperatedHost[];
  readonly gpus: readonly OperatedGpu[];
  readonly onAct: (request: ActRequest) => void;
}

export function HostTable({ hosts, gpus, onAct }: Props) {
  const units = capitalised(useUnit().all);
  const columns = ["Host", "State", units, "Environments", { label: "Actions", end: true }];
  return (
    <section aria-label="Hosts">
      <Table className={list.rows} columns={columns}>
        {hosts.map((host) => (
          <tr key={host.id}>
            <th scope="row" data-label="Host" className={classes.host}>
              {host.id}
              <small>{host.address ?? "this machine"}</small>
            </th>
            <td data-label="State">
              <HostState host={host} />
            </td>
            <td data-label={capitalised(unitWords[host.unit].all)}>
              <SlotRow host={host} gpus={gpus.filter(({ host_id }) => host_id === host.id)} />
            </td>
            <td data-label="Environments">
              <Link
                className="link target"
                to={`/environments?host=${encodeURIComponent(host.id)}`}
                aria-label={`${plural(host.environments, "environment")} on ${host.id}`}
              >
                {host.environments}
              </Link>
            </td>
            <td data-end>
              <div className={list.actions}>
                {actsOf(host).map((act) => (
                  <Button
                    key={act}
                    variant="subtle"
                    aria-label={`${labelOf(host, act)} ${host.id}`}
                    onClick={() => onAct(requestOf(host, act))}
                  >
                    {labelOf(host, act)}
                  </Button>
                ))}
              </div>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function HostState({ host }: { readonly host: OperatedHost }) {
  const { lost_at, away_since, drained_at, moving_since, homes, move_error } = host;
  if (lost_at) return <Tag tone="fail">Lost since {dateTime(lost_at)}</Tag>;
  if (away_since) return <Tag tone="fail">Silent since {dateTime(away_since)}</Tag>;
  if (!drained_at) return <Tag tone="live">In service</Tag>;
  return (
    <>
      <Tag tone="hold">No new rentals since {dateTime(drained_at)}</Tag>
      {moving_since && <small>{plural(homes, "home")} left to move</small>}
      {move_error && <small>Tried again: {move_error}</small>}
    </>
  );
}

const ownersRead = "Owners with something on it read it by bell and mail, and the audit keeps it.";

const labels: Readonly<Record<HostAct, string>> = {
  drain: "Stop new rentals",
  move: "Move files away",
  undrain: "Rent again",
  lose: "Give up",
};

/** A host that drains and moves its files goes on draining without it. */
function labelOf({ moving_since }: OperatedHost, act: HostAct): string {
  return act === "drain" && moving_since ? "Stop moving files" : labels[act];
}

/** Only another machine that does not answer can be lost. */
function actsOf({ address, drained_at, away_since, lost_at, moving_since }: OperatedHost): readonly HostAct[] {
  if (lost_at) return [];
  const drain = drained_at && !moving_since ? [] : (["drain"] as const);
  const more = [...(moving_since ? [] : (["move"] as const)), ...(drained_at ? (["undrain"] as const) : [])];
  return [...drain, ...more, ...(address && away_since ? (["lose"] as const) : [])];
}

function requestOf(host: OperatedHost, act: HostAct): ActRequest {
  const { id, environments, homes, moving_since } = host;
  const consequences: Readonly<Record<HostAct, string>> = {
    drain: moving_since
      ? `${id} takes no new rentals still. What has not moved by now stays, and cannot be started there.`
      : `Nothing new is rented on ${id}, and the owners of its ${plural(environments, "environment")} are notified. What runs goes on until its time is over.`,
    move: `Nothing new is rented on ${id}. The files of what is stopped or has ended move to other hosts at once, with name and address; what runs follows when it is stopped. Rent again takes back what has not moved by then.`,
    undrain: `${id} is rented again.`,
    lose: `This ends the ${plural(environments, "environment")} on ${id} for good, and refunds their unused time. The files of ${plural(homes, "home")} there are lost, of ended environments too. It cannot be undone.`,
  };
  return {
    title: `${labelOf(host, act)} ${id}`,
    action: labelOf(host, act),
    consequences: consequences[act],
    ...(!host.drained_at && act !== "lose" && { reasonHint: ownersRead }),
    ...(act === "lose" && { expected: id }),
    run: (reason, typed) => callConsole(actOnHost, { params: { id, act }, body: { reason, typed } }),
  };
}
