import type { SamplePoint } from "@berth/contract";
import { expect, test } from "vitest";
import { coresText, metricsOf, rateText, rowsOf, topOf } from "./metrics-of.ts";

const minute = 60_000;
const start = Date.parse("2026-11-20T12:00:00.000Z");
const point = (minutes: number, change: Partial<SamplePoint> = {}): SamplePoint => ({
  ...{ at: new Date(start + minutes * minute).toISOString(), cpu_cores: 1, memory_mb: 500, home_mb: 3 },
  ...{ received_bytes_per_second: null, sent_bytes_per_second: null, gpus: [] },
  ...change,
});
const box = { fromMs: start, stepMs: minute };

test("a line starts at its time, and breaks at gaps", () => {
  const points = [point(-1), point(0), point(1, { cpu_cores: 2 }), point(5, { cpu_cores: 4 })];
  expect(rowsOf(points, [{ name: "CPU", of: ({ cpu_cores }) => cpu_cores }], box)).toEqual([
    { at: start, CPU: 1 },
    { at: start + minute, CPU: 2 },
    { at: start + 2 * minute },
    { at: start + 5 * minute, CPU: 4 },
  ]);
});

test("a metric without samples has no line (G33)", () => {
  const points = [point(0), point(1)];
  const network = metricsOf(points, true).find(({ title }) => title === "Network");
  expect(metricsOf(points, true).map(({ title }) => title)).toContain("GPU memory");
  expect(metricsOf(points, false).map(({ title }) => title)).toEqual(["CPU", "Memory", "Network", "Files"]);
  expect(rowsOf(points, network?.lines ?? [], box).map(({ In, Out }) => [In, Out])).toEqual([
    [null, null],
    [null, null],
  ]);
});

test("each GPU has its own line, with gaps where it was not sampled", () => {
  const gpu = (id: string, use_percent: number) => ({ id, use_percent, memory_mb: 1 });
  const points = [point(0, { gpus: [gpu("b", 20), gpu("a", 10)] }), point(1, { gpus: [gpu("a", 30)] })];
  const [use] = metricsOf(points, true);
  expect(use?.lines.map(({ name }) => name)).toEqual(["GPU 1", "GPU 2"]);
  expect(use?.lines.map(({ of }) => points.map(of))).toEqual([
    [10, 30],
    [20, null],
  ]);
});

test("scales and figures", () => {
  expect([0, 0.4, 1.1, 3, 7, 60].map((highest) => topOf(highest, 1))).toEqual([1, 1, 2, 5, 10, 100]);
  expect([0.004, 0.35, 12].map(coresText)).toEqual(["0.00 cores", "0.35 cores", "12.0 cores"]);
  expect([0, 999, 1500, 2_500_000].map(rateText)).toEqual(["0 B/s", "999 B/s", "1.5 KB/s", "2.5 MB/s"]);
});
