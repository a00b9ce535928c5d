import { expect, test } from "vitest";
import { callLab, type Given, remember, remembered, waitForState } from "./drive-run.ts";

/** The part of the contract for drivers that can pause. */
export function pauseTests(given: () => Given): void {
  test("a pause is idempotent and keeps memory; another driver object resumes it", async () => {
    const { machine, driver, begin } = given();
    const wanted = await begin();
    const memory = await remember(driver, wanted);
    await driver.pause(wanted.id);
    await driver.pause(wanted.id);
    expect(await driver.observe(wanted.id)).toMatchObject({ state: "paused", generation: 1 });
    await expect(callLab(driver, wanted, "GET", "/api", 300)).rejects.toThrow("no response");
    const second = await machine.open();
    expect(await second.observe(wanted.id)).toMatchObject({ state: "paused" });
    await second.start(wanted);
    await waitForState(second, wanted.id, "running");
    expect(await remembered(driver, wanted)).toEqual(memory);
  });

  test("another driver object stops a paused run", async () => {
    const { machine, driver, begin } = given();
    const wanted = await begin();
    await driver.pause(wanted.id);
    const second = await machine.open();
    await second.stop(wanted.id, 1_000);
    expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
  });
}
