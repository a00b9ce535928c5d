import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { jumpHostOf } from "./jump-host-of.ts";

test("G405 the page names the jump host only where it can be reached", () => {
  const secret = randomBytes(32);
  const atHome = { appUrl: "http://localhost:3000", secret, isSshServed: true };
  expect(jumpHostOf({ ...atHome, config: readConfig({}) })).toMatchObject({ host: "localhost", port: 2222 });
  expect(jumpHostOf({ ...atHome, config: readConfig({ SSH_PORT: "off" }) })).toBe(undefined);
  // Another program has the port (G428).
  expect(jumpHostOf({ ...atHome, isSshServed: false, config: readConfig({}) })).toBe(undefined);
  // Behind a proxy, which carries no SSH.
  const inPublic = { appUrl: "https://berth.example", secret, isSshServed: undefined };
  expect(jumpHostOf({ ...inPublic, config: readConfig({}) })).toBe(undefined);
  const opened = readConfig({ SSH_HOST: "0.0.0.0", UNSAFE_PUBLIC_PROCESS_DRIVER: "true" });
  expect(jumpHostOf({ ...inPublic, config: opened })).toMatchObject({ host: "berth.example", port: 2222 });
});
