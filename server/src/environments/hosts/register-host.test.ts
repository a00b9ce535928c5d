import { expect, test } from "vitest";
import { freeTimes } from "../leases/free-times.ts";
import { rent, setupEnvironments } from "../testing/setup-environments.ts";
import { registerHost } from "./register-host.ts";

test("CPU slots: the setting, otherwise as many as the memory is enough for, between one and eight", async () => {
  const { db, driver } = await setupEnvironments();
  const offered = async (memoryMb: number | undefined, slots?: number) => {
    const capabilities = { ...(await driver.capabilities()), ...(memoryMb !== undefined && { memoryMb }) };
    await registerHost(db, "host", { ...driver, capabilities: async () => capabilities }, slots);
    const rows = await db.selectFrom("gpus").where("quarantined_at", "is", null).select("id").execute();
    return rows.length;
  };
  expect(await offered(24_576)).toBe(1);
  expect(await offered(8_192)).toBe(1);
  expect(await offered(80_000)).toBe(4);
  expect(await offered(1_000_000)).toBe(8);
  // The process driver limits nobody's memory (G89).
  expect(await offered(undefined)).toBe(8);
  expect(await offered(24_576, 3)).toBe(3);
});

/** A host of eight slots with room for so much. */
async function limited(limits: { readonly room?: number; readonly newHomes?: number }) {
  const { db, driver, reach, want } = await setupEnvironments();
  const set = async (given: typeof limits) => {
    const capabilities = async () => ({ ...(await driver.capabilities()), ...given });
    await registerHost(db, "host", { ...driver, capabilities }, 8);
  };
  await set(limits);
  const free = async () => (await freeTimes(db)).filter(({ freeNow }) => freeNow).length;
  return { db, reach, want, set, free };
}

test("G200 what a quota has no room for is not offered, and nothing that is leased is taken back", async () => {
  const { db, set, free } = await limited({ room: 3 });
  expect(await free()).toBe(3);
  await rent(db, { gpuCount: 2 });
  expect(await free()).toBe(1);
  await set({ room: 3 });
  expect(await free()).toBe(1);
  await expect(rent(db, { gpuCount: 2 })).rejects.toThrow("Not enough slots are free right now");
  await set({ room: 1 });
  expect(await free()).toBe(0);
  await expect(rent(db)).rejects.toThrow("Not enough slots are free right now");
  await set({});
  expect(await free()).toBe(6);
});

test("G200 without room for another volume no new name is sold, but one whose files are there", async () => {
  const { db, reach, want, set, free } = await limited({ newHomes: 2 });
  const id = await rent(db, { userId: "user", subdomain: "kept" });
  await rent(db);
  await expect(rent(db)).rejects.toThrow("No machine has room for the files of another environment");
  expect(await free()).toBe(0);
  await reach(id, "active");
  await want(id, "terminated");
  await reach(id, "terminated");
  await set({ newHomes: 0 });
  await expect(rent(db)).rejects.toThrow("No machine has room for the files of another environment");
  await rent(db, { userId: "user", subdomain: "kept" });
  await set({});
  expect(await free()).toBe(6);
});
