import { array, type infer as Infer, int, literal, maximum, minimum, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { nothing } from "../wire.ts";

/** Ports inside an environment that have an address of their own (G385). */
export const lowestPort = 1024;
export const highestPort = 65_535;

export const portNumber = int().check(minimum(lowestPort), maximum(highestPort));

/** The label of a port's host name, beside the environment's own. */
export function portLabel(port: number, subdomain: string): string {
  return `${port}--${subdomain}`;
}

const portForm = /^([0-9]+)--(.+)$/;

/** What a label of this form names, whether the port is in range or not; undefined for other labels. */
export function readPortLabel(label: string): { readonly port: number; readonly subdomain: string } | undefined {
  const [, digits = "", subdomain = ""] = portForm.exec(label) ?? [];
  return digits === "" ? undefined : { port: digits.startsWith("0") ? 0 : Number(digits), subdomain };
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= lowestPort && port <= highestPort;
}

/** A port on which something listens, and the name of its program. */
export const listeningPort = object({ port: portNumber, program: string() });
export type ListeningPort = Infer<typeof listeningPort>;

export const listPorts = endpoint({
  method: "GET",
  path: "/environments/{id}/ports",
  auth: "bearer",
  summary: "Ports inside an environment on which something listens; null where it does not say so now (G389)",
  body: nothing,
  reply: object({ status: literal("success"), ports: nullable(array(listeningPort)) }),
  errors: ["not_found"],
});
