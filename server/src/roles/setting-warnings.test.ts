import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { settingWarnings } from "./setting-warnings.ts";

const onLoopback = (settings: Record<string, string>) =>
  settingWarnings(readConfig({ METRICS_PORT: "9464", TRUST_PROXY: "10.0.0.1, 127.0.0.1", ...settings }))
    .map((text) => /^A notebook can (read \/metrics|pass for your proxy)/.exec(text)?.[1])
    .filter((each) => each !== undefined);

test("what a notebook of the process driver reaches on loopback is warned of, until it is closed", () => {
  expect(onLoopback({})).toEqual(["read /metrics", "pass for your proxy"]);
  expect(onLoopback({ METRICS_TOKEN: "sixteen-letters-at-least" })).toEqual(["pass for your proxy"]);
  for (const elsewhere of ["10.0.0.1", "10.0.0.0/8", "2001:db8::1", "192.127.0.1"])
    expect(onLoopback({ TRUST_PROXY: elsewhere }), elsewhere).toEqual(["read /metrics"]);
  for (const here of ["loopback", "::1", "0.0.0.0/1", "10.0.0.1,127.0.0.0/8"])
    expect(onLoopback({ TRUST_PROXY: here }), here).toEqual(["read /metrics", "pass for your proxy"]);
  for (const closed of [{ PROCESS_NETWORK: "off" }, { RUNTIME: "docker" }]) expect(onLoopback(closed)).toEqual([]);
});
