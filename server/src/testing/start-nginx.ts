import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProxy } from "./run-proxy.ts";

const nginx = "/usr/sbin/nginx";

export const hasNginx = existsSync(nginx);

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
  await runProxy({ program: nginx, args: ["-c", file], port });
}
