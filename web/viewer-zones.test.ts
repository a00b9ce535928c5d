import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Each viewer is a process of its own, because the time zone is set per process. */
function readIn(zone: string): unknown {
  const script = `
    const { monthName, longMonth } = await import(${JSON.stringify(new URL("src/billing/statement.ts", import.meta.url))});
    const { date } = await import(${JSON.stringify(new URL("src/format.ts", import.meta.url))});
    const months = ["2026-03", "2026-11", "2026-12", "2027-01"].map((month) => monthName(month, longMonth));
    console.log(JSON.stringify([...months, date("2026-12-31T23:59:59.999Z")]));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { env: { TZ: zone } });
  return JSON.parse(String(output));
}

test.each([
  ["Asia/Kolkata", "Jan 1, 2027"],
  ["Europe/Berlin", "Jan 1, 2027"],
  ["America/New_York", "Dec 31, 2026"],
  ["Pacific/Kiritimati", "Jan 1, 2027"],
  ["Pacific/Pago_Pago", "Dec 31, 2026"],
])("C43 a viewer in %s sees a UTC month unchanged, and a moment in their own zone", (zone, lastMoment) => {
  expect(readIn(zone)).toEqual(["March 2026", "November 2026", "December 2026", "January 2027", lastMoment]);
});
