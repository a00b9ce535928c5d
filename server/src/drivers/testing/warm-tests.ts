import { expect, test } from "vitest";
import { type Given, remember, remembered } from "./drive-run.ts";

/** The part of the contract for runs that stand ready before anybody has ordered them. */
export function warmTests(given: () => Given): void {
  test("a run that stood ready is the one that a start with its spec goes on with, and no other is made", async () => {
    const { machine, driver, begin } = given();
    const { warm } = await driver.capabilities();
    const wanted = await begin();
    const memory = await remember(driver, wanted);
    if (warm === "paused") await driver.pause(wanted.id);
    const stood = await driver.observe(wanted.id);
    if (stood.state === "absent") throw new Error("it does not stand ready");
    expect(stood.state).toBe(warm === "none" ? "running" : warm);
    const taker = await machine.open();
    await taker.start({ ...wanted, homeIsKept: true });
    const { generation, createdAt, startedAt } = stood;
    expect(await taker.observe(wanted.id)).toMatchObject({ state: "running", generation, createdAt, startedAt });
    expect(await remembered(taker, wanted)).toEqual(memory);
  });

  test("a run that stood ready for nobody leaves neither itself nor files", async () => {
    const { driver, begin } = given();
    const wanted = await begin();
    if ((await driver.capabilities()).warm === "paused") await driver.pause(wanted.id);
    await driver.remove(wanted.id);
    await driver.deleteHome(wanted.home);
    expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    expect(await driver.countHome(wanted.home, AbortSignal.timeout(10_000))).toBeUndefined();
  });
}
