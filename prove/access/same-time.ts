import { performance } from "node:perf_hooks";
import { expect, inject, type TestContext, test } from "vitest";
import { comparable } from "../../server/src/system-tests/testing/access-cells.ts";
import {
  assignments,
  fill,
  mounted,
  namesIn,
  setupAccess,
  type World,
} from "../../server/src/system-tests/testing/setup-access.ts";
import { seeded } from "../../server/src/testing/random.ts";
import { cpuClock } from "./cpu-time.ts";

export interface TimeDifference {
  readonly percent: number;
  /** Of which time: what passed, or what the CPUs worked. */
  readonly of: "time" | "CPU time";
  /** Of each kind. */
  readonly samples: number;
}

declare module "vitest" {
  interface TaskMeta {
    /** Difference of medians by call. */
    times?: Record<string, TimeDifference>;
  }
}

const samples = 200;
const most = 5;
const limitMs = 1_800_000;
const random = seeded(inject("wholeMatrix")?.seed ?? 0);

type Send = () => Promise<unknown>;

test(
  "a read of a foreign id takes as long as one of an absent id",
  async ({ task }) => {
    const world = await setupAccess();
    const reads = mounted(world).filter(
      ({ method, path }) => method === "GET" && namesIn(path).some((name) => name !== "name"),
    );
    for (const endpoint of reads) {
      const [foreign, absent] = (["foreign", "absent"] as const).map((whose) => {
        const { user_id } = world.values;
        // Behind the caller's own user id; a call that takes nothing else is asked for another's.
        const isOnly = namesIn(endpoint.path).every((name) => name === "user_id");
        const values = isOnly ? world.values : { ...world.values, user_id: { [whose]: user_id?.own ?? [] } };
        const [first = {}] = assignments({ ...world, values }, endpoint, [whose]);
        return fill(endpoint.path, first);
      });
      const read = (path = "") => world.call("GET", path, world.outsider.token);
      expect(comparable(await read(foreign)), endpoint.path).toEqual(comparable(await read(absent)));
      await compare({ task, db: world.db }, `GET ${endpoint.path}`, [() => read(foreign), () => read(absent)]);
    }
  },
  limitMs,
);

const wrong = (email: string) => ({ email, password: "wrong password 1", returnSecureToken: true });
const signIn = ({ call }: World, email: string) =>
  call("POST", "/identity/v1/accounts:signInWithPassword", undefined, wrong(email));
const reset = ({ call }: World, email: string) => call("POST", "/auth/reset-password", undefined, { email });

test(
  "a sign-in and a reset of somebody's address take as long as those of nobody's, past the failed ones too",
  async ({ task }) => {
    const world = await setupAccess();
    const sendsOf = (ask: typeof signIn) =>
      [() => ask(world, world.victim.email), () => ask(world, "nobody@example.com")] as const;
    const forget = () => world.db.deleteFrom("attempt_windows").execute();
    const name = "POST /identity/v1/accounts:signInWithPassword";
    await compare({ task, db: world.db }, name, sendsOf(signIn), forget);
    for (const send of sendsOf(signIn)) await send();
    await world.db.updateTable("attempt_windows").set({ count: 100 }).execute();
    for (const send of sendsOf(signIn)) expect(await send()).toMatchObject({ statusCode: 429 });
    await compare({ task, db: world.db }, `${name}, after 100 failures`, sendsOf(signIn));
    await compare({ task, db: world.db }, "POST /auth/reset-password", sendsOf(reset));
  },
  limitMs,
);

/**
 * On a machine with other work, what passes differs by chance: where the medians differ by `most` percent, those of the CPU
 * time of the product and its database count, which has no waiting in it; and where they do too, those of five times as many.
 */
async function compare(
  { task, db }: Pick<TestContext, "task"> & Pick<World, "db">,
  name: string,
  sends: readonly [Send, Send],
  prepare?: Send,
): Promise<void> {
  const [passed, worked]: readonly [Times, Times] = [
    [[], []],
    [[], []],
  ];
  const round = () => measure(db, { passed, worked }, sends, prepare);
  await round();
  const isQuiet = Math.abs(differenceOf(passed)) < most;
  if (!isQuiet && Math.abs(differenceOf(worked)) >= most) for (let n = 1; n < 5; n++) await round();
  const [times, of] = isQuiet ? [passed, "time" as const] : [worked, "CPU time" as const];
  const percent = Math.abs(differenceOf(times));
  console.log(`${name}: time ${differenceOf(passed).toFixed(1)} %, CPU ${differenceOf(worked).toFixed(1)} %`);
  task.meta.times = { ...task.meta.times, [name]: { percent, of, samples: times[0].length } };
  expect.soft(percent, `${name}: difference of medians of ${of} in percent`).toBeLessThan(most);
}

/** In milliseconds. */
type Times = readonly [foreign: number[], absent: number[]];

async function measure(
  db: World["db"],
  { passed, worked }: { readonly passed: Times; readonly worked: Times },
  sends: readonly [Send, Send],
  prepare?: Send,
): Promise<void> {
  for (let n = 0; n < samples; n++)
    // Who comes first is drawn: a fixed turn would meet whatever else takes turns on the machine.
    for (const which of random.chance(0.5) ? ([0, 1] as const) : ([1, 0] as const)) {
      await prepare?.();
      const cpu = await cpuClock(db);
      const [cpuBefore, began] = [cpu.before(), performance.now()];
      await sends[which]();
      passed[which].push(performance.now() - began);
      worked[which].push(cpu.after() - cpuBefore);
    }
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** In percent of the slower one; above 0 where the foreign id takes longer. */
function differenceOf(times: Times): number {
  const [ofForeign, ofAbsent] = [middle(times[0]), middle(times[1])];
  return (100 * (ofForeign - ofAbsent)) / Math.max(ofForeign, ofAbsent);
}
