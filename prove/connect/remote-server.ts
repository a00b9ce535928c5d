import assert from "node:assert/strict";
import { freePort } from "../../server/src/testing/free-port.ts";
import { until } from "../../testing/customer.ts";
import { outcomeOf } from "../../testing/ssh-client.ts";
import type { Labs } from "./setup-labs.ts";

/** What outlives the connection, and its port, as the server of an editor writes it where the next connection finds it. */
const server = `import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(os.getpid()).encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(".server-port", "w").write(str(server.server_port))
server.serve_forever()`;

/**
 * What VS Code's Remote-SSH does, without its program: a script on standard input starts a server in the home, which outlives the
 * connection; a forwarded port leads to it, and the next connection finds it again.
 */
export async function useRemoteServer({ client }: Labs): Promise<void> {
  const { stdout } = await client.run("ssh", ["-T", client.host, "bash -s"], { input: script });
  const port = Number(stdout.trim());
  assert.ok(port > 1024, stdout);
  const pids = [await pidThrough(client, port), await pidThrough(client, port)];
  assert.equal(pids[0], pids[1], "the same server at the next connection");
  await client.run("ssh", [client.host, `kill ${pids[0]}`]);
}

const script = `rm -f .server-port
nohup setsid python -c '${server}' > /dev/null 2>&1 < /dev/null &
for each in $(seq 600); do [ -s .server-port ] && break; sleep 0.1; done
cat .server-port
`;

/** A connection with a forwarded port, which ends afterwards. */
async function pidThrough(client: Labs["client"], port: number): Promise<string> {
  const local = await freePort();
  const forwarding = client.begin("ssh", [
    "-F",
    client.config,
    "-T",
    "-N",
    "-L",
    `${local}:127.0.0.1:${port}`,
    client.host,
  ]);
  const ended = outcomeOf(forwarding);
  try {
    const answer = async () =>
      await fetch(`http://127.0.0.1:${local}/`).then(
        (response) => response.text(),
        () => undefined,
      );
    return await until("the forwarded port", answer, 60_000, 200);
  } finally {
    forwarding.kill();
    await ended;
  }
}
