import type { Overview } from "@berth/contract/console/overview";
import { capitalised } from "../../content/number-word.ts";
import { dateTime } from "../../format.ts";
import { Facts } from "../../ui/display/facts.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { useUnit } from "../frame/use-unit.ts";
import classes from "./now-page.module.css";

type Props = { readonly overview: Pick<Overview, "hosts" | "gpus" | "environments" | "queue"> };

/** What a seller wants to know first; nothing while something is free. */
export function SoldOut({ gpus, queue }: Pick<Overview, "gpus" | "queue">) {
  const { all } = useUnit();
  const { total, free, leased, sold_out_since } = gpus;
  if (free > 0 || leased === 0) return null;
  const wait =
    queue.since === null ? "Nobody waits." : `${queue.waiting} in the queue, the first since ${dateTime(queue.since)}.`;
  return (
    <Notice tone="hold" title={`Sold out${sold_out_since === null ? "" : ` since ${dateTime(sold_out_since)}`}`}>
      {leased} of {total} {all} are leased, none is free. {wait}
    </Notice>
  );
}

/** What there is to rent, and who waits for it. */
export function PlacesPanel({ overview: { hosts, gpus, environments, queue } }: Props) {
  const { all } = useUnit();
  return (
    <div className={classes.places}>
      <section aria-label="Machines">
        <h2>Machines</h2>
        <Facts
          facts={[
            { label: "Hosts in service", value: hosts.open },
            { label: "Hosts out of service", value: hosts.closed },
            { label: capitalised(all), value: gpus.total },
            { label: "Free", value: gpus.free },
            { label: "Leased", value: gpus.leased },
            { label: "Quarantined", value: gpus.quarantined },
            { label: "Not offered", value: gpus.not_offered },
          ]}
        />
      </section>
      <section aria-label="Rentals">
        <h2>Rentals</h2>
        <Facts
          facts={[
            { label: "Active environments", value: environments.active },
            { label: "Starting", value: environments.pending },
            { label: "Waiting in the queue", value: queue.waiting },
            { label: "Longest wait since", value: queue.since === null ? "Nobody waits" : dateTime(queue.since) },
          ]}
        />
      </section>
    </div>
  );
}
