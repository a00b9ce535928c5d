import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Tells systemd that the server is ready (sd_notify(3)), where it waits for that: `systemctl start` returns then. */
export async function notifyReady({
  NOTIFY_SOCKET,
  PATH,
}: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (!NOTIFY_SOCKET) return;
  await promisify(execFile)("systemd-notify", ["--ready"], { env: { NOTIFY_SOCKET, PATH } });
}
