import { Agent, request } from "node:http";
import type { FuzzRequest } from "../../server/src/system-tests/testing/fuzz-requests.ts";

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const longestMs = 60_000;
const mostBytes = 200_000;

/** Sends what fetch would correct or refuse. A stream is left after its headers. Status 0: the connection was cut. */
export function sendRaw(port: number, { method, url, headers, payload }: FuzzRequest) {
  return new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path: url, headers, agent }, (answer) => {
      const status = answer.statusCode ?? 0;
      let body = "";
      const end = () => resolve({ status, body });
      if (answer.headers["content-type"]?.startsWith("text/event-stream")) {
        end();
        sent.destroy();
        return;
      }
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        if (body.length < mostBytes) body += chunk;
      });
      answer.on("close", end);
    });
    sent.setTimeout(longestMs, () => reject(new Error(`no answer in ${longestMs / 1000} s: ${method} ${url}`)));
    // A body that is too long is answered before it is read, and its connection ends.
    sent.on("error", () => resolve({ status: 0, body: "" }));
    sent.end(payload);
  });
}
