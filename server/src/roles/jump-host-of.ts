import type { Config } from "../config/config.ts";
import { isLoopback, isPublic } from "../config/conflicts.ts";
import type { JumpHost } from "../environments/api/ssh-access.ts";
import { jumpHostKey } from "../installation/jump-host-key.ts";

interface Place {
  readonly config: Pick<Config, "ssh">;
  readonly appUrl: string;
  readonly secret: Buffer;
}

/** Where the public reaches the gateway by SSH (G413); undefined where it is switched off, and behind a proxy, which carries none. */
export function jumpHostOf({ config, appUrl, secret }: Place): JumpHost | undefined {
  const { port, host } = config.ssh;
  if (port === undefined || (isPublic(appUrl) && isLoopback(host))) return undefined;
  return { host: new URL(appUrl).hostname, port, publicKey: jumpHostKey(secret).publicKey };
}
