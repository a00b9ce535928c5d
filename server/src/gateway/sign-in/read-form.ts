import type { IncomingMessage } from "node:http";

/** The forms of the gateway's pages have one short field. */
const maxBodyBytes = 4096;

/** The fields of a posted form. A body that is too long or has no Content-Length is not read. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!(Number(request.headers["content-length"]) <= maxBodyBytes)) return new URLSearchParams();
  let text = "";
  for await (const chunk of request.setEncoding("latin1")) text += chunk;
  return new URLSearchParams(text);
}
