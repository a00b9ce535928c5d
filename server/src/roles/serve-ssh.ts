import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Logger } from "../logging/create-logger.ts";

interface SshPlace {
  readonly config: Pick<Config, "ssh">;
  /** Undefined in a process without one. */
  readonly gateway: Pick<Gateway, "onSshConnection"> | undefined;
  readonly log: Logger;
}

export interface SshServer {
  /** Whether it listens; undefined where another process has the gateway. */
  readonly isServed: boolean | undefined;
  /** Its connections end with the gateway. */
  stop(): Promise<void>;
}

/** Listens for `ssh -J` (G405). A port that is taken ends no start: notebooks go on without SSH. */
export async function serveSsh({ config, gateway, log }: SshPlace): Promise<SshServer> {
  const { port, host } = config.ssh;
  if (!gateway) return { isServed: undefined, stop: async () => {} };
  if (port === undefined) return notServed;
  const server = createServer((socket) => gateway.onSshConnection(socket));
  try {
    await once(server.listen(port, host), "listening");
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    log.warn(
      { event: "ssh.not_served", code },
      `There is no SSH to environments, because port ${port} of ${host} cannot be opened: name another one in SSH_PORT, or set it to off.`,
    );
    return notServed;
  }
  return { isServed: true, stop: async () => void server.close() };
}

const notServed: SshServer = { isServed: false, async stop() {} };
