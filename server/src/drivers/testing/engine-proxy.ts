import { randomBytes } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";

/** A Unix socket in front of the engine's own, with faults of a connection. */
export interface EngineProxy {
  readonly path: string;
  /** Faults of all connections from now on: slow is 3 s each way, silent passes nothing, cut ends in the middle of a response. */
  fault: "none" | "slow" | "silent" | "cut";
  /** Called with each request's first line; the request is forwarded when the returned promise resolves. */
  onRequest: (head: string) => Promise<void> | undefined;
  /** Number of open connections. */
  count(): number;
  /** Breaks all connections. */
  drop(): void;
  close(): Promise<void>;
}

export async function openEngineProxy(directory: string, enginePath = "/var/run/docker.sock"): Promise<EngineProxy> {
  const path = join(directory, `proxy-${randomBytes(3).toString("hex")}.sock`);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(enginePath);
    bindLifetimes(sockets, near, far);
    near.on("data", (chunk) => passRequest(proxy, chunk, far));
    far.on("data", (chunk) => passResponse(proxy, chunk, near));
  });
  const proxy: EngineProxy = {
    path,
    fault: "none",
    onRequest: () => undefined,
    count: () => sockets.size,
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      proxy.drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return proxy;
}

function bindLifetimes(sockets: Set<Socket>, near: Socket, far: Socket): void {
  sockets.add(near).add(far);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => {
      sockets.delete(one);
      other.destroy();
    });
  }
}

async function passRequest(proxy: EngineProxy, chunk: Buffer, engine: Socket): Promise<void> {
  await proxy.onRequest(chunk.toString("latin1").split("\r\n")[0] ?? "");
  if (proxy.fault === "slow") await new Promise((resolve) => setTimeout(resolve, 3_000));
  if (proxy.fault !== "silent") engine.write(chunk);
}

function passResponse({ fault }: EngineProxy, chunk: Buffer, client: Socket): void {
  if (fault === "cut") {
    client.write(chunk.subarray(0, 20));
    client.destroySoon();
  } else if (fault !== "silent") client.write(chunk);
}
