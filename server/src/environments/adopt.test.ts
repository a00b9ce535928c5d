import { expect, test } from "vitest";
import { adopt } from "./adopt.ts";
import { readCapacity } from "./capacity.ts";
import { hold } from "./hold.ts";
import { join } from "./queue.ts";
import { inMs, setupEnvironments } from "./testing.ts";

test("a host that does not answer is told of once and leases nothing until it answers, not to a turn in line either", async () => {
  const { db, driver, parts, told, rent, reach, want, read } = await setupEnvironments({ slots: 2 });
  const stopped = await rent();
  await reach(stopped, "active");
  await want(stopped, "stopped");
  await reach(stopped, "stopped");
  const free = async () => (await readCapacity(db)).free;
  const ask = (subdomain: string, userId = "bob") =>
    db
      .transaction()
      .execute((tx) => hold(tx, { orderId: "o", userId, subdomain, gpuCount: 1, holdUntil: inMs(900_000) }));
  const refused = (words: string) => ({ ok: false, code: "out_of_stock", message: expect.stringContaining(words) });
  const before = await free();
  expect(before).toBeGreaterThan(0);

  driver.failNext("list", "unavailable", 2);
  await adopt(parts);
  await adopt(parts);
  expect(told.failures).toEqual([expect.objectContaining({ code: "unavailable" })]);
  expect(await free()).toBe(0);
  expect(await ask("new-one")).toMatchObject(refused("A machine does not answer right now"));
  const row = await read(stopped);
  expect(await ask(row.subdomain, row.user_id)).toMatchObject({ ok: false });
  await expect(join(db, "cat", 1, async () => {})).rejects.toThrow("A machine does not answer right now");

  await adopt(parts);
  expect(await free()).toBe(before);
  expect(await ask("new-one")).toMatchObject({ ok: true, hostId: "host" });
  expect(told.failures).toHaveLength(1);
});
