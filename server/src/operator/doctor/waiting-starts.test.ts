import { expect, test } from "vitest";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { waitingStarts } from "./waiting-starts.ts";

test("G198 the doctor says what starts wait for, in the words of the machine, until they come through", async () => {
  const { db, driver, rent, pass, reach } = await setupEnvironments();
  expect(await waitingStarts(db)).toEqual([]);
  const [one, other] = [await rent(), await rent()];
  for (const id of [one, other]) driver.machine.waits.set(id, { for: "room", message: "2 Insufficient memory" });
  for (let passes = 0; passes < 2; passes++) await pass();
  expect(await waitingStarts(db)).toEqual(["2 starts wait for room on a machine: 2 Insufficient memory."]);
  driver.machine.waits.delete(one);
  await reach(one, "active");
  expect(await waitingStarts(db)).toEqual(["1 start waits for room on a machine: 2 Insufficient memory."]);
});
