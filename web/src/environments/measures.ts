import type { SamplePoint, SampleSpan } from "@berth/contract";
import { sizeText } from "./kept.ts";

/** One thing that is measured, of one place that has it: a line of a chart. */
interface Line {
  readonly name: string;
  readonly of: (point: SamplePoint) => number | null;
}

export interface Measure {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
  /** The top of the chart at least; a quiet hour is not drawn as a storm. */
  readonly least: number;
  /** Why there may be none. */
  readonly absent?: string;
}

export const spanWords: Readonly<Record<SampleSpan, { readonly label: string; readonly ms: number }>> = {
  "1h": { label: "1 hour", ms: 3_600_000 },
  "24h": { label: "24 hours", ms: 86_400_000 },
  "7d": { label: "7 days", ms: 604_800_000 },
};

/** GPUs first where there are any: they are what is paid for. */
export function measuresOf(points: readonly SamplePoint[], hasGpu: boolean): readonly Measure[] {
  const ids = [...new Set(points.flatMap(({ gpus }) => gpus.map(({ id }) => id)))].sort();
  const gpuLines = (of: (gpu: SamplePoint["gpus"][number]) => number): Line[] =>
    ids.map((id, index) => ({
      name: `GPU ${index + 1}`,
      of: ({ gpus }) => {
        const gpu = gpus.find((one) => one.id === id);
        return gpu ? of(gpu) : null;
      },
    }));
  const absent = hasGpu ? {} : { absent: "CPU only (no GPU on this machine)" };
  return [
    { title: "GPU", lines: gpuLines((gpu) => gpu.use_percent), text: percentText, least: 100, ...absent },
    { title: "GPU memory", lines: gpuLines((gpu) => gpu.memory_mb), text: sizeText, least: 1000, ...absent },
    { title: "CPU", lines: [{ name: "CPU", of: (point) => point.cpu_cores }], text: coresText, least: 1 },
    { title: "Memory", lines: [{ name: "Memory", of: (point) => point.memory_mb }], text: sizeText, least: 500 },
    {
      title: "Network",
      lines: [
        { name: "In", of: (point) => point.received_bytes_per_second },
        { name: "Out", of: (point) => point.sent_bytes_per_second },
      ],
      text: rateText,
      least: 10_000,
      ...(points.length > 0 && { absent: "This machine cannot tell its traffic apart" }),
    },
    { title: "Files", lines: [{ name: "Files", of: (point) => point.home_mb }], text: sizeText, least: 10 },
  ];
}

export interface Drawn {
  /** SVG path in a box of 100 by 100. */
  readonly path: string;
  readonly last: number;
  readonly highest: number;
}

/** A line of straight segments, broken where nothing was measured. Undefined without a value. */
export function draw(
  points: readonly SamplePoint[],
  of: (point: SamplePoint) => number | null,
  box: { readonly fromMs: number; readonly toMs: number; readonly stepMs: number; readonly top: number },
): Drawn | undefined {
  let path = "";
  let before = Number.NEGATIVE_INFINITY;
  let last: number | undefined;
  let highest = 0;
  for (const point of points) {
    const value = of(point);
    const at = Date.parse(point.at);
    if (value === null || at < box.fromMs) continue;
    const x = Math.min(100, ((at - box.fromMs) / (box.toMs - box.fromMs)) * 100);
    const y = 100 - Math.min(100, (value / box.top) * 100);
    // A lone point is a dot: a line of no length with round ends.
    path += at - before > 1.5 * box.stepMs ? `M${x.toFixed(2)} ${y.toFixed(2)}h0` : `L${x.toFixed(2)} ${y.toFixed(2)}`;
    before = at;
    last = value;
    highest = Math.max(highest, value);
  }
  return last === undefined ? undefined : { path, last, highest };
}

/** 1, 2 or 5 times a power of ten, not below `least`: a scale that does not move with every sample. */
export function topOf(highest: number, least: number): number {
  if (highest <= least) return least;
  const ten = 10 ** Math.floor(Math.log10(highest));
  return ([1, 2, 5, 10].find((step) => step * ten >= highest) ?? 10) * ten;
}

export function coresText(cores: number): string {
  return `${cores < 10 ? cores.toFixed(2) : cores.toFixed(1)} cores`;
}

export function rateText(bytesPerSecond: number): string {
  if (bytesPerSecond < 1000) return `${Math.round(bytesPerSecond)} B/s`;
  return bytesPerSecond < 1e6
    ? `${(bytesPerSecond / 1000).toFixed(1)} KB/s`
    : `${(bytesPerSecond / 1e6).toFixed(1)} MB/s`;
}

function percentText(percent: number): string {
  return `${Math.round(percent)}%`;
}
