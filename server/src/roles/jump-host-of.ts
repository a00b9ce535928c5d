import type { Config } from "../config/config.ts";
import type { JumpHost } from "../environments/api/ssh-access.ts";
import { jumpHostKey } from "../installation/jump-host-key.ts";

interface Place {
  readonly config: Pick<Config, "ssh">;
  readonly appUrl: string;
  readonly secret: Buffer;
}

/** Where the public reaches the gateway by SSH (G413); undefined where it is switched off. */
export function jumpHostOf({ config, appUrl, secret }: Place): JumpHost | undefined {
  const { port } = config.ssh;
  if (port === undefined) return undefined;
  return { host: new URL(appUrl).hostname, port, publicKey: jumpHostKey(secret).publicKey };
}
