import { expect, test } from "vitest";
import { setupEnvironments } from "../testing/setup-environments.ts";
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
