import { expect, test } from "vitest";
import { processTable, psTable } from "./process-table.ts";

test("ps and /proc give the same process table", async () => {
  const own = process.pid;
  const [fromProc, fromPs] = [(await processTable()).get(own), (await psTable(own)).get(own)];
  expect(fromPs).toMatchObject({ pid: own, parent: fromProc?.parent, stopped: false });
  // ps leaves out the children that were waited for.
  expect(fromPs?.cpuSeconds).toBeGreaterThan(0);
  expect(fromPs?.cpuSeconds).toBeLessThan((fromProc?.cpuSeconds ?? 0) + 2);
  expect(fromPs?.memoryMb).toBeGreaterThan(10);
});
