import type { ServerResponse } from "node:http";
import { limitBody } from "../../http/limit-body.ts";
import { ownFields } from "../refusals/refuse.ts";

export function redirect(
  response: ServerResponse,
  location: string,
  headers: Readonly<Record<string, string>> = {},
  status: 302 | 303 = 302,
): void {
  limitBody(response.req, response);
  response.writeHead(status, { ...ownFields, ...headers, Location: location, "Content-Length": 0 }).end();
}
