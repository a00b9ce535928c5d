import type { Capacity, GpuModel, ProductConfig, UserQueueEntry } from "@berth/contract";
import { catalogue, prices } from "../../catalogue.ts";
import { gpuLine, gpuNames } from "../../content/gpu-words.ts";
import { type UnitWords, unitWords } from "../../content/unit-words.ts";
import { dateTime, listed } from "../../format.ts";

export interface TypeChoice {
  readonly type: string;
  readonly available: boolean;
  /** Why it is unavailable or still preparing; may be empty. */
  readonly note: string;
}

/** A type in preparation can be chosen; its launch waits in a stage of its own (G101). */
export function typeChoices(capacity: Capacity | undefined): readonly TypeChoice[] {
  return catalogue.types.map(({ id: type }) => {
    const known = capacity?.types.find((candidate) => candidate.type === type);
    if (known?.state === "unavailable") return { type, available: false, note: known.message };
    if (known?.state !== "preparing") return { type, available: true, note: "" };
    const percent = known.percent === null ? "" : ` ${Math.round(known.percent)}%`;
    return {
      type,
      available: true,
      note: `Preparing on this machine:${percent || " started"}. A launch waits for it.`,
    };
  });
}

export interface CountChoice {
  readonly gpus: number;
  readonly free: boolean;
  /** All of them are in use, so one can wait for them (G341). */
  readonly taken: boolean;
  /** A short note in the cell: "Free at 4:40 PM". */
  readonly note: string;
}

/** Without a reply of the server every count can be chosen; the order is refused if it is not free (G35). */
export function countChoices(capacity: Capacity | undefined, now: number): readonly CountChoice[] {
  return prices().rows.map(({ gpus }) => {
    const known = capacity?.counts.find(({ gpu_count }) => gpu_count === gpus);
    if (!capacity || !known || known.free) return { gpus, free: true, taken: false, note: "" };
    if (capacity.total === 0) return { gpus, free: false, taken: false, note: "Not now" };
    if (gpus > capacity.total) return { gpus, free: false, taken: false, note: `This machine has ${capacity.total}` };
    const note = known.next_free_at ? `Free ${whenFree(known.next_free_at, now)}` : "In use";
    return { gpus, free: false, taken: true, note };
  });
}

/** A user's reservation makes its count, and smaller ones, free to this user (G86). */
export function withReservation(
  capacity: Capacity | undefined,
  entry: UserQueueEntry | null | undefined,
): Capacity | undefined {
  if (!capacity || entry?.state !== "held") return capacity;
  const counts = capacity.counts.map((count) =>
    count.gpu_count <= entry.gpu_count ? { ...count, free: true, next_free_at: null } : count,
  );
  return { ...capacity, counts };
}

/** Why some counts are disabled, with the earliest known times; undefined if none is. */
export function countReason(capacity: Capacity | undefined, now: number): string | undefined {
  const off = countChoices(capacity, now).filter(({ free }) => !free);
  if (!capacity || off.length === 0) return undefined;
  if (capacity.total === 0) return "No machine takes new environments at the moment. Look again later.";
  const tooMany = off.filter(({ gpus }) => gpus > capacity.total).map(({ gpus }) => gpus);
  const inUse = off.filter(({ gpus }) => gpus <= capacity.total);
  const unit = unitWords[capacity.kind];
  const sentences: string[] = [];
  if (inUse.length > 0) {
    const counts = inUse.map(({ gpus }) => gpus);
    const used = capacity.total - capacity.free;
    sentences.push(
      `${counted(counts, unit)} ${counts.every((count) => count === 1) ? "is" : "are"} not free: ${used} of ${capacity.total} ${used === 1 ? "is" : "are"} in use on this machine.${freeAgain(capacity, inUse, now)}`,
    );
  }
  if (tooMany.length > 0) sentences.push(`${counted(tooMany, unit)} are more than this machine has.`);
  return sentences.join(" ");
}

/** One time if it is that of all, else each with its own, as its cell has it. */
function freeAgain(capacity: Capacity, inUse: readonly CountChoice[], now: number): string {
  const times = inUse.flatMap(({ gpus }) => {
    const next = capacity.counts.find(({ gpu_count }) => gpu_count === gpus)?.next_free_at;
    return next ? [{ gpus, when: whenFree(next, now) }] : [];
  });
  const [first] = times;
  if (!first) return "";
  if (times.length === inUse.length && times.every(({ when }) => when === first.when))
    return ` Free again ${first.when}.`;
  return ` Free again: ${listed(
    times.map(({ gpus, when }) => `${gpus} ${when}`),
    "conjunction",
  )}.`;
}

/** The machine's GPUs, in one sentence (G37). */
export function machineLine(capacity: Capacity | undefined, gpus: readonly GpuModel[]): string {
  if (capacity?.kind === "cpu")
    return `CPU only (no GPU on this machine). ${capacity.free} of ${capacity.total} slots are free now.`;
  const model = gpuLine(gpus);
  return capacity ? `${model} ${capacity.free} of ${capacity.total} are free now.` : model;
}

/** A count on this machine: "2 × RTX 4070", or CPU slots without a GPU (G37). */
export function unitsOf(gpus: number, capacity: Capacity | undefined, config: ProductConfig | undefined): string {
  if (capacity?.kind === "cpu") return `${gpus} × CPU slot`;
  return `${gpus} × ${config ? gpuNames(config.gpus) : "GPU"}`;
}

function whenFree(iso: string, now: number): string {
  const at = new Date(iso);
  const sameDay = at.toDateString() === new Date(now).toDateString();
  if (!sameDay) return `on ${dateTime(iso, now)}`;
  return `at ${at.toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit" })}`;
}

/** "6 and 8 GPUs". */
function counted(counts: readonly number[], unit: UnitWords): string {
  return `${listed(counts, "conjunction")} ${counts.length === 1 && counts[0] === 1 ? unit.one : unit.all}`;
}
