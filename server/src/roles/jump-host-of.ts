import type { Config } from "../config/config.ts";
import { isLoopback, isPublic } from "../config/conflicts.ts";
import type { JumpHost } from "../environments/api/ssh-access.ts";
import { jumpHostKey } from "../installation/jump-host-key.ts";

interface Place {
  readonly config: Pick<Config, "ssh">;
  readonly appUrl: string;
  readonly secret: Buffer;
  /** Of this process; undefined in one without the gateway, which does not know. */
  readonly isSshServed: boolean | undefined;
}

/**
 * Where the public reaches the gateway by SSH (G413); undefined where it is switched off, where another program has the port (G428),
 * and behind a proxy, which carries none.
 */
export function jumpHostOf({ config, appUrl, secret, isSshServed }: Place): JumpHost | undefined {
  const { port, host } = config.ssh;
  if (port === undefined || isSshServed === false || (isPublic(appUrl) && isLoopback(host))) return undefined;
  return { host: new URL(appUrl).hostname, port, publicKey: jumpHostKey(secret).publicKey };
}
