import { hasProxy, nginxCommand } from "./proxy-command.ts";
import { runProxy } from "./run-proxy.ts";

export const hasNginx = hasProxy("nginx");

/** Starts a real nginx with `servers` in its http block; it writes only to `folder`. Stopped at the end of the test. */
export async function startNginx({ folder, port, servers }: { folder: string; port: number; servers: string }) {
  await runProxy(nginxCommand(folder, servers), port);
}
