import { inject, type TestContext } from "vitest";
import { type Random, seeded } from "../../testing/random.ts";
import type { TestApp } from "../../testing/test-app.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Set by `npm run prove -- access`: every cell, in an order of its own. */
    wholeMatrix?: { readonly seed: number };
  }
  interface TaskMeta {
    /** How many cells of each kind were tried. */
    cells?: Record<string, number>;
  }
}

const whole = inject("wholeMatrix");

/** Whether every cell is tried; else those that differ most, in the seconds that a suite of `npm test` has. */
export const isWhole = whole !== undefined;

/** The cells to try: all of them in a drawn order, or the first choice. */
export function chosen<Cell>(all: () => readonly Cell[], some: () => readonly Cell[]): readonly Cell[] {
  return whole ? shuffled(seeded(whole.seed), all()) : some();
}

function shuffled<Cell>(random: Random, cells: readonly Cell[]): readonly Cell[] {
  return cells
    .map((cell) => ({ cell, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ cell }) => cell);
}

/** More would make the product answer 503 on a busy machine, which is no refusal. */
const atOnce = 3;

/** Tries some cells at once: most of their time they wait for the database. */
export async function side<Cell>(cells: readonly Cell[], attempt: (cell: Cell) => Promise<void>): Promise<void> {
  const left = [...cells];
  const work = async () => {
    for (let cell = left.shift(); cell !== undefined; cell = left.shift()) await attempt(cell);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** For the sums of the proof. */
export function tally({ task }: Pick<TestContext, "task">, kind: string, cells: number): void {
  task.meta.cells = { ...task.meta.cells, [kind]: cells };
  console.log(`${cells} cells: ${kind}`);
}

/** A reply without the headers that may differ between equal replies. */
export function comparable({ statusCode, headers, body }: Awaited<ReturnType<TestApp["call"]>>) {
  const own = ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"];
  const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
  return { statusCode, headers: rest, body };
}

/** Of a route as Fastify names it, with this value for each parameter that is no closed set. */
export const pathOf = (url: string, value: string) =>
  url
    .replace("::", "\\")
    .replace(/:\w+\(\^\(\?:(\w+)[^)]*\)\$\)/g, "$1")
    .replace(/:\w+/g, value)
    .replace("\\", ":");
