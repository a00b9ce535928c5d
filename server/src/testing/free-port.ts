import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A TCP port of loopback that nobody listens on, for programs that cannot choose one by themselves. It lies below those that
 * the system gives to whoever asks for any, lest another test gets it before the program listens.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_768);
  const probe = createServer().listen(port, "127.0.0.1");
  const isFree = await once(probe, "listening").then(
    () => true,
    () => false,
  );
  if (!isFree) return await freePort();
  probe.close();
  await once(probe, "close");
  return port;
}
