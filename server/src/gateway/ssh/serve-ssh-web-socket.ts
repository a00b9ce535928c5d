import type { IncomingMessage } from "node:http";
import { type Duplex, PassThrough } from "node:stream";
import { authorizedKeysOf } from "../../account/ssh-keys/ssh-keys.ts";
import type { Db } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { OpenRoute } from "../access/resolve-route.ts";
import type { RefuseDeps } from "../refusals/note-refusal.ts";
import { refuseUpgrade } from "../refusals/refuse.ts";
import { type JoinDeps, joinSsh } from "./join-ssh.ts";

export interface WebSocketDeps extends RefuseDeps {
  readonly db: Db;
  readonly join: JoinDeps;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly log: Logger;
}

/** Larger than what SSH sends at once. */
const maxPayload = 1024 * 1024;

/**
 * SSH in the binary messages of a WebSocket at the environment's own address, for networks that let nothing else out (G406). Whoever
 * has the environment's token gets as far as the SSH server inside, which asks for a key of the account.
 */
export function serveSshWebSocket(
  deps: WebSocketDeps,
  request: IncomingMessage,
  socket: Duplex,
  early: Buffer,
  { target, run }: OpenRoute,
): void {
  const refuse = (title: string) => {
    if (!socket.destroyed) refuseUpgrade(deps, request, socket, { status: 502, code: "ssh_refused", title });
  };
  open().catch((err: unknown) => {
    deps.log.error({ event: "gateway.ssh_failed", err });
    refuse("This cannot be looked up at the moment: try again in a minute");
  });

  async function open(): Promise<void> {
    const keys = await authorizedKeysOf(deps.db, target.route.userId);
    if (keys.length === 0) return refuse("Your account has no SSH key: add one in Settings");
    const { WebSocketServer, createWebSocketStream } = await import("ws");
    const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload });
    if (socket.destroyed) return;
    const accept = () => {
      let client: Duplex = new PassThrough();
      server.handleUpgrade(request, socket, early, (connection) => {
        client = createWebSocketStream(connection);
      });
      // It has no valid key of a WebSocket, or has gone.
      if (client instanceof PassThrough) client.destroy();
      return client;
    };
    const caller = { address: addressKey(deps.addressOf(request)), keys, accept, refuse, onEnd() {} };
    const destroy = joinSsh(deps.join, target, run, caller);
    if (destroy) socket.once("close", destroy);
  }
}
