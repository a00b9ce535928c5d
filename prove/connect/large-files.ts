import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { outcomeOf } from "../../testing/ssh-client.ts";
import type { Labs } from "./setup-labs.ts";

const port = 18_080;
/** Keeps what is sent to it, and sends it back. */
const program = `import http.server, shutil
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def do_PUT(self):
        left = int(self.headers["Content-Length"])
        with open("by-port", "wb") as file:
            while left > 0:
                piece = self.rfile.read(min(left, 1 << 20))
                left -= len(piece)
                file.write(piece)
        self.send_response(204)
        self.end_headers()
    def do_GET(self):
        with open("by-port", "rb") as file:
            self.send_response(200)
            self.send_header("Content-Length", str(file.seek(0, 2)))
            self.end_headers()
            file.seek(0)
            shutil.copyfileobj(file, self.wfile, 1 << 20)
http.server.ThreadingHTTPServer(("127.0.0.1", ${port}), Handler).serve_forever()
`;

/** A file of random bytes goes in and comes back by scp, rsync, and through a port; every copy has the same SHA-256. */
export async function moveLargeFiles(labs: Labs, megabytes: number): Promise<readonly string[]> {
  const { client, folder } = labs;
  const file = join(folder, "large");
  await outcomeOf(client.begin("head", ["-c", `${megabytes}M`, "/dev/urandom"], { to: file }));
  const expected = await sha256(file);
  const lines: string[] = [];
  const ways = { scp: bySsh("scp"), rsync: bySsh("rsync"), "a port": byPort };
  for (const [name, way] of Object.entries(ways)) {
    const back = join(folder, "back");
    const { inside, upMs, downMs } = await way(labs, file, back);
    const { stdout } = await client.run("ssh", [client.host, `sha256sum ${inside}; rm ${inside}`]);
    assert.equal(stdout.split(" ")[0], expected, `${name}, inside`);
    assert.equal(await sha256(back), expected, `${name}, back`);
    await rm(back);
    const rate = (ms: number) => ((megabytes * 1.048576) / (ms / 1000)).toFixed(0);
    lines.push(`${name}: ${rate(upMs)} MB/s in, ${rate(downMs)} MB/s back`);
    console.log(lines.at(-1));
  }
  await rm(file);
  return lines;
}

type Way = (
  labs: Labs,
  file: string,
  back: string,
) => Promise<{ readonly inside: string; readonly upMs: number; readonly downMs: number }>;

function bySsh(tool: "scp" | "rsync"): Way {
  return async ({ client }, file, back) => {
    const upMs = await timed(() => client.run(tool, [file, `${client.host}:by-${tool}`]));
    const downMs = await timed(() => client.run(tool, [`${client.host}:by-${tool}`, back]));
    return { inside: `by-${tool}`, upMs, downMs };
  };
}

const byPort: Way = async (labs, file, back) => {
  const { client } = labs;
  await client.run("ssh", [client.host, `nohup python -c '${program}' > /dev/null 2>&1 &`]);
  await answers(labs);
  const upMs = await timed(() => call(labs, "PUT", createReadStream(file)));
  const downMs = await timed(async () => pipeline(await call(labs, "GET"), createWriteStream(back)));
  return { inside: "by-port", upMs, downMs };
};

async function answers(labs: Labs): Promise<void> {
  const { client } = labs;
  const wait = `import socket, time
for _ in range(600):
    if socket.socket().connect_ex(("127.0.0.1", ${port})) == 0: break
    time.sleep(0.1)`;
  await client.run("ssh", [client.host, `python -c '${wait}'`]);
}

/** A request to the program at its own address, with the environment's token. @throws unless it answers 2xx */
async function call({ addresses: [address] }: Labs, method: string, body?: NodeJS.ReadableStream) {
  const host = `${port}--${address?.subdomain}.localhost:${address?.port}`;
  const size = body && "path" in body ? await sizeOf(String(body.path)) : 0;
  const headers = { host, authorization: `token ${address?.token}`, ...(body && { "content-length": size }) };
  const sent = request({ host: "127.0.0.1", port: address?.port, path: "/", method, headers, agent: false });
  if (body) body.pipe(sent);
  else sent.end();
  const [response] = await once(sent, "response");
  assert.ok(response.statusCode < 300, `${method} through the port answered ${response.statusCode}`);
  if (method === "PUT") response.resume();
  return response;
}

async function sizeOf(path: string): Promise<number> {
  const { stat } = await import("node:fs/promises");
  return (await stat(path)).size;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
