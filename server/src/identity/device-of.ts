import type { FastifyRequest } from "fastify";
import type { Device } from "./identity.ts";

/** What a sign-in tells of its browser. */
export function deviceOf({ headers, ip }: FastifyRequest): Device {
  const browser = headers["berth-browser"];
  return {
    userAgent: headers["user-agent"],
    ip,
    browser: typeof browser === "string" ? browser.slice(0, 64) : undefined,
  };
}
