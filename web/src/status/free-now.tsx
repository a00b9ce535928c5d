import type { ProductStatus } from "@berth/contract";
import { plural } from "@berth/contract";
import { prices } from "../catalogue.ts";
import { unitWords } from "../content/unit-words.ts";
import { dateTime } from "../format.ts";
import { Slots } from "../ui/display/slots.tsx";
import classes from "./status-page.module.css";

type Known = ProductStatus["capacity"];

/** Counts free GPUs per machine, because an environment cannot span machines (G39). */
export function FreeNow({ capacity }: { capacity: Known | undefined }) {
  return (
    <>
      <p className={classes.machine}>{capacity ? machineLine(capacity) : "\u00a0"}</p>
      <ul className={classes.free}>
        {prices().rows.map(({ gpus: count }) => (
          <li key={count}>
            <Slots filled={count} size="lg" />
            <span>{plural(count, unitWords[capacity?.kind ?? "gpu"].one)}</span>
            <Answer count={count} capacity={capacity} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Answer({ count, capacity }: { readonly count: number; readonly capacity: Known | undefined }) {
  const known = capacity?.counts.find(({ gpu_count }) => gpu_count === count);
  if (!capacity || !known) return <b />;
  if (known.free) return <b data-free>Free</b>;
  if (capacity.total === 0) return <b>Not now</b>;
  if (count > capacity.total) return <b>More than one machine has</b>;
  return <b>{known.next_free_at ? `Free from ${dateTime(known.next_free_at)}` : "In use"}</b>;
}

function machineLine({ kind, free, total }: Known): string {
  if (total === 0) return "No machine takes new environments at the moment.";
  if (kind === "cpu") return `CPU only (no GPU on this machine). ${free} of ${total} slots are free.`;
  return `${free} of ${total} GPUs of the largest machine are free.`;
}
