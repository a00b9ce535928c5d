import type { SamplePoint, SampleSpan } from "@berth/contract";
import { sizeText } from "../../format.ts";

export interface Line {
  readonly name: string;
  readonly of: (point: SamplePoint) => number | null;
}

export interface Metric {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
  /** The minimum of the scale, so that small changes do not look large. */
  readonly least: number;
  /** The reason for missing values. */
  readonly absent?: string;
}

export const spans: Readonly<Record<SampleSpan, { readonly label: string; readonly ms: number }>> = {
  "1h": { label: "1 hour", ms: 3_600_000 },
  "24h": { label: "24 hours", ms: 86_400_000 },
  "7d": { label: "7 days", ms: 604_800_000 },
};

/** GPUs first; a machine without GPUs has no lines of them (G343). */
export function metricsOf(points: readonly SamplePoint[], hasGpu: boolean): readonly Metric[] {
  const ids = [...new Set(points.flatMap(({ gpus }) => gpus.map(({ id }) => id)))].sort();
  const gpuLines = (of: (gpu: SamplePoint["gpus"][number]) => number): Line[] =>
    ids.map((id, index) => ({
      name: `GPU ${index + 1}`,
      of: ({ gpus }) => {
        const gpu = gpus.find((one) => one.id === id);
        return gpu ? of(gpu) : null;
      },
    }));
  const ofGpus: readonly Metric[] = [
    { title: "GPU", lines: gpuLines((gpu) => gpu.use_percent), text: percentText, least: 100 },
    { title: "GPU memory", lines: gpuLines((gpu) => gpu.memory_mb), text: sizeText, least: 1000 },
  ];
  return [
    ...(hasGpu ? ofGpus : []),
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

/** One point in time: milliseconds since the epoch, and each line's value by name. */
export type Row = { readonly at: number } & Readonly<Record<string, number | null>>;

/** Rows from `fromMs` on, with an empty row for each gap, so that lines break there. */
export function rowsOf(
  points: readonly SamplePoint[],
  lines: readonly Line[],
  { fromMs, stepMs }: { readonly fromMs: number; readonly stepMs: number },
): Row[] {
  const rows: Row[] = [];
  for (const point of points) {
    const at = Date.parse(point.at);
    if (at < fromMs) continue;
    const before = rows.at(-1)?.at ?? at;
    if (at - before > 1.5 * stepMs) rows.push({ at: before + stepMs });
    rows.push({ at, ...Object.fromEntries(lines.map(({ name, of }) => [name, of(point)])) });
  }
  return rows;
}

/** 1, 2 or 5 times a power of ten, at least `least`, so that the scale is stable. */
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
