import type { OperatedGpu, OperatedHost } from "@berth/contract/console/machines";
import { Link } from "react-router";
import { capitalised } from "../../content/number-word.ts";
import { unitWords } from "../../content/unit-words.ts";
import classes from "./slot-row.module.css";
import { reasonOf, type Slot, slotOf, slotStates, slotWords } from "./slots-of.ts";

interface Props {
  readonly host: OperatedHost;
  readonly gpus: readonly OperatedGpu[];
}

/** A host as its GPUs or slots, one cell each; what a cell shows is also its text, and what is wrong stands below. */
export function SlotRow({ host, gpus }: Props) {
  const slots = gpus.map((gpu) => slotOf(gpu, host));
  return (
    <>
      <ul className={classes.slots} aria-label={`${capitalised(unitWords[host.unit].all)} of ${host.id}`}>
        {slots.map((slot) => (
          <li key={slot.id}>
            <Cell slot={slot} />
          </li>
        ))}
      </ul>
      <ul className={classes.counts} aria-label={`Counts of ${host.id}`}>
        {countsOf(slots).map(({ state, count }) => (
          <li key={state}>
            <i className={classes.cell} data-state={state} aria-hidden="true" />
            {count} {slotWords[state]}
          </li>
        ))}
      </ul>
      {faultsOf(gpus).map(({ reason, ids }) => (
        <small key={reason}>
          {ids}: {reason}
        </small>
      ))}
    </>
  );
}

function Cell({ slot: { state, label, to } }: { readonly slot: Slot }) {
  const cell = <i className={classes.cell} data-state={state} aria-hidden="true" />;
  return to ? (
    <Link to={to} title={label} aria-label={label}>
      {cell}
    </Link>
  ) : (
    <span role="img" title={label} aria-label={label}>
      {cell}
    </span>
  );
}

function countsOf(slots: readonly Slot[]) {
  return slotStates
    .map((state) => ({ state, count: slots.filter((slot) => slot.state === state).length }))
    .filter(({ count }) => count > 0);
}

/** Reasons that GPUs are out of service, each with the first three that it is about. */
function faultsOf(gpus: readonly OperatedGpu[]) {
  const faulty = gpus.filter((gpu) => gpu.quarantined_at && reasonOf(gpu) !== "");
  return [...Map.groupBy(faulty, reasonOf)].map(([reason, all]) => {
    const named = all.slice(0, 3).map(({ id }) => id);
    return { reason, ids: [...named, ...(all.length > 3 ? [`${all.length - 3} more`] : [])].join(", ") };
  });
}
