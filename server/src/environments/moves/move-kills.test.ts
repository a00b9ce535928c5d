import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { setupMoves } from "../testing/setup-moves.ts";

type Point = readonly ["host" | "other", "countHome" | "archive" | "restore" | "deleteHome", "before" | "after"];

const points: readonly Point[] = [
  ["host", "countHome", "before"],
  ["host", "countHome", "after"],
  ["host", "archive", "after"],
  ["other", "restore", "before"],
  ["other", "restore", "after"],
  ["other", "countHome", "before"],
  ["other", "countHome", "after"],
  ["host", "deleteHome", "before"],
  ["host", "deleteHome", "after"],
];

/** A driver whose server is killed at an operation: `kill` takes its lease, so nothing that it still does is written. */
function killedAt(driver: Driver, [, operation, when]: Point, kill: () => Promise<unknown>): Driver {
  const call = driver[operation] as (...args: unknown[]) => unknown;
  const killed = async (...args: unknown[]) => {
    if (when === "after") await call(...args);
    await kill();
    throw new Error("killed");
  };
  async function* inTheMiddle(...args: unknown[]) {
    for await (const piece of call(...args) as AsyncIterable<Uint8Array>) {
      yield piece.subarray(0, 30);
      await kill();
      throw new Error("killed");
    }
  }
  return { ...driver, [operation]: operation === "archive" ? inTheMiddle : killed };
}

test.for(points)(
  "G195 a server that is killed at %s %s (%s) loses no file and leaves no second copy",
  async (point) => {
    const { db, driver, other, open, stopped, read, empty, movePass, moves, movedNotices, moveDeps } =
      await setupMoves();
    const { id, home } = await stopped();
    const files = new Map(driver.machine.homes.get(home));
    await open();
    await empty();
    let kills = 0;
    const kill = async () => {
      kills += 1;
      await sql`update home_moves set lease_token = gen_random_uuid(), lease_expires_at = now()`.execute(db);
    };
    const [hostId] = point;
    const drivers = new Map(moveDeps.drivers).set(hostId, killedAt(hostId === "host" ? driver : other, point, kill));
    for (let passes = 0; kills === 0 && passes < 3; passes++) await movePass({ drivers });
    expect(kills).toBe(1);
    for (let passes = 0; passes < 3; passes++) await movePass();
    const { host_id, home: now } = await read(id);
    expect([host_id, await moves(), (await movedNotices()).length]).toEqual(["other", [], 1]);
    expect([driver.machine.homes, other.machine.homes]).toEqual([new Map(), new Map([[now, files]])]);
  },
);

test("G195 a worker that was thought dead and goes on touches neither the moved files nor the row", async () => {
  const { db, driver, other, open, stopped, read, empty, movePass, moves, moveDeps } = await setupMoves();
  const { id, home } = await stopped();
  const files = new Map(driver.machine.homes.get(home));
  await open();
  await empty();
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const late = {
    ...other,
    async restore(...args: Parameters<typeof other.restore>) {
      await held;
      await other.restore(...args);
    },
  };
  const sleeping = movePass({ drivers: new Map(moveDeps.drivers).set("other", late) });
  await expect.poll(async () => (await moves())[0]?.to_home).toEqual(expect.any(String));
  await sql`update home_moves set lease_expires_at = now()`.execute(db);
  for (let passes = 0; passes < 3; passes++) await movePass();
  const { home: now } = await read(id);
  goOn();
  await sleeping;
  expect([await moves(), (await read(id)).home]).toEqual([[], now]);
  expect(other.machine.homes).toEqual(new Map([[now, files]]));
});

test("G195 two workers move each home once", async () => {
  const { other, open, stopped, empty, movePass, movedNotices, moves } = await setupMoves();
  for (let count = 0; count < 4; count++) await stopped();
  await open();
  await empty();
  for (let passes = 0; passes < 3; passes++) await Promise.all([movePass(), movePass()]);
  expect([await moves(), other.machine.homes.size, (await movedNotices()).length]).toEqual([[], 4, 4]);
});
