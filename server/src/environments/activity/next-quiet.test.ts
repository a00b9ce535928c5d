import { expect, test } from "vitest";
import { seeded } from "../../testing/random.ts";
import { lookAtRun } from "./look-at-run.ts";
import { type Look, nextQuiet, type Quiet } from "./next-quiet.ts";
import type { Sample } from "./samples.ts";

const off: Quiet = { hasRun: false, quietSince: null };
const at = (seconds: number) => new Date(seconds * 1000);

/** Takes a look every 15 s, by their first letters, and answers the second at which the notice comes. */
function doneAt(looks: string): number | undefined {
  const names: Readonly<Record<string, Look>> = { w: "work", l: "load", n: "nothing", u: "unknown" };
  let quiet = off;
  for (const [index, letter] of [...looks].entries()) {
    const next = nextQuiet(quiet, names[letter] ?? "unknown", at(index * 15));
    if (next.isDone) return index * 15;
    quiet = next;
  }
  return undefined;
}

test.each([
  ["two looks 30 s apart find nothing after work", "wnnn", 45],
  ["nothing has run yet", "nnnnnnnn", undefined],
  ["load of an opened page is no work", "llnnnn", undefined],
  ["work between two looks", "wnnwnnn", 90],
  ["load is no end", "wnnlnnn", 90],
  ["looks that could not be taken conclude nothing, nor do those around them", "wnnunnn", 90],
  ["a machine that is never reached", "wuuuuuu", undefined],
])("%s: %s", (_, looks, expected) => {
  expect(doneAt(looks)).toBe(expected);
});

test("a look needs every sign that there is no work, and one that there is (G361)", () => {
  const sample: Sample = {
    ...{ environmentId: "one", cpuCores: 0.02, memoryMb: 1, homeMb: 1, gpus: [] },
    ...{ receivedBytesPerSecond: 1e7, sentBytesPerSecond: 1e7 },
  };
  const jupyter = { idleSeconds: 3, isBusy: false, lastCells: new Map([["a", "10:00"]]) };
  const processes = [{ pid: 1, command: "bash", inTerminal: false }];
  const before = { usedCpu: false, lastCells: new Map([["a", "10:00"]]) };
  const quiet = { sample, jupyter, processes, before };
  expect(lookAtRun(quiet), "a page that is loaded").toBe("nothing");
  const gpus = [{ id: "g", usePercent: 30, memoryMb: 1, watts: 90 }];
  const busy = { ...sample, cpuCores: 0.9 };
  const changes = {
    cell: { jupyter: { ...jupyter, isBusy: true }, processes: undefined },
    "a cell since": { jupyter: { ...jupyter, lastCells: new Map([["a", "10:01"]]) } },
    program: { processes: [{ pid: 2, command: "sleep 60", inTerminal: true }], jupyter: undefined },
    gpu: { sample: { ...sample, gpus } },
    "lasting load": { sample: busy, before: { ...before, usedCpu: true } },
  };
  for (const [name, change] of Object.entries(changes)) expect(lookAtRun({ ...quiet, ...change }), name).toBe("work");
  expect(lookAtRun({ ...quiet, sample: busy })).toBe("load");
  expect(lookAtRun({ ...quiet, before: { ...before, lastCells: new Map() } }), "a new kernel").toBe("nothing");
  expect(lookAtRun({ ...quiet, jupyter: undefined })).toBe("unknown");
  expect(lookAtRun({ ...quiet, processes: undefined })).toBe("unknown");
});

interface Piece {
  readonly kind: "cell" | "program" | "cpu" | "gpu";
  readonly from: number;
  readonly until: number;
}

/** A run of some pieces of work, looked at every 15 to 18 s; answers when the notice came and when the work had ended. */
function scenario(seed: number): { readonly done: number | undefined; readonly pieces: readonly Piece[] } {
  const random = seeded(seed);
  const pieces: Piece[] = [];
  const count = random.of([1, 2, 3, 4]);
  let from = random.below(40);
  while (pieces.length < count) {
    const kind = random.of(["cell", "program", "cpu", "gpu"] as const);
    const piece = { kind, from, until: from + (kind === "cell" ? 1 : 35) + random.below(120) };
    pieces.push(piece);
    from = piece.until + (random.chance(0.5) ? random.below(25) : -random.below(20));
  }
  let before = { usedCpu: false, lastCells: new Map([["k", "0"]]) };
  let quiet = off;
  let last = 0;
  for (let now = 15; now < 2000; now += 15 + random.below(4)) {
    const active = (kind: Piece["kind"]) =>
      pieces.some((one) => one.kind === kind && one.from <= now && now < one.until);
    const overlap = ({ from, until }: Piece) => Math.max(0, Math.min(now, until) - Math.max(last, from));
    const cpu = pieces.filter(({ kind }) => kind === "cpu").reduce((sum, piece) => sum + overlap(piece), 0);
    const cells = pieces
      .filter(({ kind, from }) => kind === "cell" && from <= now)
      .map(({ until }) => Math.min(until, now));
    const sample = {
      ...{ environmentId: "one", cpuCores: cpu / (now - last), memoryMb: 1, homeMb: 1 },
      ...{ receivedBytesPerSecond: null, sentBytesPerSecond: null },
      gpus: [{ id: "g", usePercent: active("gpu") ? 80 : 0, memoryMb: 1, watts: 1 }],
    };
    const lastCells = new Map([["k", String(Math.max(0, ...cells))]]);
    const jupyter = { idleSeconds: 0, isBusy: active("cell"), lastCells };
    const processes = [{ pid: 1, command: "a program", inTerminal: active("program") }];
    const next = nextQuiet(quiet, lookAtRun({ sample, jupyter, processes, before }), at(now));
    if (next.isDone) return { done: now, pieces };
    quiet = next;
    before = { usedCpu: sample.cpuCores > 0.15, lastCells };
    last = now;
  }
  return { done: undefined, pieces };
}

test("in a thousand runs no notice comes while something runs, nor more than 90 s after it has ended (G360)", () => {
  for (let seed = 1; seed <= 1000; seed++) {
    const { done, pieces } = scenario(seed);
    const about = `seed ${seed}: ${JSON.stringify({ done, pieces })}`;
    if (done === undefined) expect.fail(`no notice, ${about}`);
    const running = pieces.filter(({ from, until }) => from <= done && done < until);
    expect(running, `early, ${about}`).toEqual([]);
    const ended = Math.max(...pieces.filter(({ from }) => from <= done).map(({ until }) => until));
    expect(done - ended, `at least 30 s, ${about}`).toBeGreaterThanOrEqual(30);
    expect(done - ended, `late, ${about}`).toBeLessThanOrEqual(90);
  }
});
