import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

const nginx = "/usr/sbin/nginx";

export const hasNginx = existsSync(nginx);

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Starts a real nginx with `servers` in its http block; it writes only to `folder`. Stopped at the end of the test. */
export async function startNginx({ folder, port, servers }: { folder: string; port: number; servers: string }) {
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temp = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  writeFileSync(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http { access_log off; ${temp}
${servers}
}`,
  );
  const child = spawn(nginx, ["-c", file], { stdio: "ignore" });
  onTestFinished(async () => {
    child.kill("SIGQUIT");
    if (child.exitCode === null) await once(child, "exit");
  });
  await expect.poll(() => listens(port), { timeout: 10_000 }).toBe(true);
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
