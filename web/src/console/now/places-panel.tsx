import type { Overview } from "@berth/contract/console/overview";
import { dateTime } from "../../format.ts";
import { Facts } from "../../ui/display/facts.tsx";
import classes from "./now-page.module.css";

type Props = { readonly overview: Pick<Overview, "hosts" | "gpus" | "environments" | "queue"> };

/** What there is to rent, and who waits for it. */
export function PlacesPanel({ overview: { hosts, gpus, environments, queue } }: Props) {
  return (
    <div className={classes.places}>
      <section aria-label="Machines">
        <h2>Machines</h2>
        <Facts
          facts={[
            { label: "Hosts in service", value: hosts.open },
            { label: "Hosts out of service", value: hosts.closed },
            { label: "GPUs", value: gpus.total },
            { label: "Free", value: gpus.free },
            { label: "Leased", value: gpus.leased },
            { label: "Quarantined", value: gpus.quarantined },
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
