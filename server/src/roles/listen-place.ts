import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { type Config, ConfigError } from "../config/config.ts";

/** Where a server listens, as `listen` of Node and Fastify takes it: the inherited socket wins over host and port. */
export interface ListenPlace {
  readonly port: number;
  readonly host: string;
  readonly fd?: number;
}

/** Fails early if the port is taken; port 0 becomes a free one, because URLs contain it. @param fd a port that is open already */
export async function listenPlace({ port, host }: Config, fd: number | undefined): Promise<ListenPlace> {
  if (fd !== undefined) return { port, host, fd };
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return { port: typeof address === "object" && address ? address.port : port, host };
}

/** @throws ConfigError if the inherited socket has another port than URLs say */
export function checkPort(server: Server, { port, fd }: ListenPlace): void {
  const address = server.address();
  const opened = typeof address === "object" && address ? address.port : undefined;
  if (fd === undefined || opened === port) return;
  throw new ConfigError(
    `systemd opened port ${opened}, but PORT is ${port}: make them the same, in berth.socket or in PORT.`,
  );
}

/** Whether it listens on PORT: a worker alone does not (G115). */
export function isServer({ roles }: Config): boolean {
  return roles.has("api") || roles.has("gateway");
}
