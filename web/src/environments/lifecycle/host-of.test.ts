import { expect, test } from "vitest";
import { hostOf } from "./host-of.ts";

test("the host of a subdomain, and the suffix", () => {
  expect(hostOf("http://{subdomain}.localhost:3000", "lab")).toBe("lab.localhost:3000");
  expect(hostOf("https://{subdomain}.berth.example/", "lab")).toBe("lab.berth.example");
  expect(hostOf("http://{subdomain}.localhost:3000", "")).toBe(".localhost:3000");
});
