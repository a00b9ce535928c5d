import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Logger } from "../logging/create-logger.ts";

interface SshPlace {
  readonly config: Pick<Config, "ssh">;
  readonly gateway: Pick<Gateway, "onSshConnection">;
  readonly log: Logger;
}

/**
 * Listens for `ssh -J` (G405). A port that is taken ends no start: notebooks go on without SSH. Returns what stops it; its
 * connections end with the gateway.
 */
export async function serveSsh({ config, gateway, log }: SshPlace): Promise<() => Promise<void>> {
  const { port, host } = config.ssh;
  if (port === undefined) return async () => {};
  const server = createServer((socket) => gateway.onSshConnection(socket));
  try {
    await once(server.listen(port, host), "listening");
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    log.warn(
      { event: "ssh.not_served", code },
      `There is no SSH to environments, because port ${port} of ${host} cannot be opened: name another one in SSH_PORT, or set it to off.`,
    );
    return async () => {};
  }
  return async () => void server.close();
}
