import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { authorizedKeysOf, findSshKey, markKeyUsed } from "../../account/ssh-keys/ssh-keys.ts";
import type { Changes } from "../../database/changes.ts";
import type { TrustProxy } from "../../http/client-address.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { jumpHostKey } from "../../installation/jump-host-key.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import type { OpenRoute } from "../access/resolve-route.ts";
import type { Targets } from "../target/targets.ts";
import { type Arrival, createArrivals } from "./arrivals.ts";
import { findOpen } from "./find-open.ts";
import { type JoinDeps, joinSsh } from "./join-ssh.ts";
import type { Answer, Conversation, KeyHolder } from "./jump-host.ts";
import { serveSshWebSocket, type WebSocketDeps } from "./serve-ssh-web-socket.ts";

export interface DoorDeps extends Omit<JoinDeps, "perEnvironment">, Omit<WebSocketDeps, "join"> {
  readonly changes: Changes;
  readonly targets: Targets;
  readonly envHost: string;
  /** The installation's. */
  readonly secret: Buffer;
  /** Load balancers in front, whose address is nobody's. */
  readonly trustProxy: TrustProxy;
  readonly log: Logger;
}

/** Where `ssh -J` arrives (G405). */
export interface SshDoor {
  onConnection(socket: Socket): void;
  /** The same without a jump host, in a WebSocket at the environment's address. */
  onUpgrade(request: IncomingMessage, socket: Duplex, early: Buffer, route: OpenRoute): void;
  close(): void;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

interface Guest {
  readonly socket: Socket;
  /** The rate limit key of its address. */
  readonly address: string;
  /** Undefined until it has signed in. */
  holder: KeyHolder | undefined;
  readonly channels: Set<Channel>;
}

interface Channel {
  /** Undefined until it is being joined. */
  destroy: (() => void) | undefined;
}

/** Each shell, copy or editor is one. */
const mostChannels = 16;

/** What all connections share. */
interface Door extends DoorDeps {
  readonly join: JoinDeps;
  readonly guests: Set<Guest>;
  /** By socket, whose environment's; the key by which they signed in is known inside only. */
  readonly webSockets: Map<Duplex, string>;
  readonly arrivals: ReturnType<typeof createArrivals>;
  jumpHost: ReturnType<typeof load> | undefined;
}

/** ssh2 is loaded at the first connection: most installations start without anybody connecting. */
export function createSshDoor(deps: DoorDeps): SshDoor {
  const guests = new Set<Guest>();
  const webSockets = new Map<Duplex, string>();
  const join = { ...deps, perEnvironment: new Map<string, number>() };
  const door: Door = { ...deps, join, guests, webSockets, arrivals: createArrivals(), jumpHost: undefined };
  const unsubscribe = deps.changes.subscribe(
    ({ kind, id, user }) => {
      if (kind !== "ssh_key") return;
      endAll(guests, ({ holder }) => holder?.keyId === id);
      for (const [socket, owner] of [...webSockets]) if (owner === user) socket.destroy();
    },
    () => void endRemoved(door).catch(logError(deps.log, "gateway.ssh_keys_not_read")),
  );
  return {
    onConnection: (socket) => receive(door, socket),
    onUpgrade(request, socket, early, route) {
      webSockets.set(socket, route.target.route.userId);
      socket.once("close", () => webSockets.delete(socket));
      serveSshWebSocket(door, request, socket, early, route);
    },
    close() {
      unsubscribe();
      door.arrivals.close();
      endAll(guests, () => true);
    },
  };
}

/** After a lost connection to the database: a key may have been removed meanwhile. */
async function endRemoved({ db, guests, webSockets }: Door): Promise<void> {
  for (const socket of [...webSockets.keys()]) socket.destroy();
  for (const { holder, socket } of [...guests])
    if (holder && !(await findSshKey(db, holder.fingerprint))) socket.destroy();
}

function endAll(guests: ReadonlySet<Guest>, isMeant: (guest: Guest) => boolean): void {
  for (const guest of [...guests]) if (isMeant(guest)) guest.socket.destroy();
}

function receive(door: Door, socket: Socket): void {
  const address = socket.remoteAddress ?? "";
  const key = door.trustProxy(address, 0) ? undefined : addressKey(address);
  socket.on("error", () => socket.destroy());
  const arrival = door.arrivals.arrive(socket, key);
  if (!arrival) return void socket.destroy();
  const guest: Guest = { socket, address: key ?? address, holder: undefined, channels: new Set() };
  door.guests.add(guest);
  socket.setNoDelay(true);
  socket.on("close", () => {
    door.guests.delete(guest);
    for (const { destroy } of guest.channels) destroy?.();
  });
  door.jumpHost ??= load(door.secret);
  door.jumpHost.then(
    (serve) => socket.destroyed || serve(socket, conversationOf(door, guest, arrival)),
    (err: unknown) => {
      door.log.error({ event: "gateway.ssh_failed", err });
      socket.destroy();
    },
  );
}

async function load(secret: Buffer) {
  const { createJumpHost } = await import("./jump-host.ts");
  return createJumpHost(jumpHostKey(secret).privateKey);
}

function conversationOf(door: Door, guest: Guest, arrival: Arrival): Conversation {
  const { db, log } = door;
  return {
    onHandshake: arrival.onHandshake,
    async onSigned(fingerprint) {
      if (!arrival.mayTry()) return void guest.socket.destroy();
      const found = await findSshKey(db, fingerprint);
      if (!found) arrival.onWrongKey();
      return found && { userId: found.userId, keyId: found.keyId, fingerprint };
    },
    onSignIn(holder) {
      arrival.onSignIn();
      guest.holder = holder;
      void markKeyUsed(db, holder.keyId).catch(logError(log, "gateway.ssh_key_use_not_written"));
    },
    onChannel(holder, host, port, answer) {
      const channel: Channel = { destroy: undefined };
      const refuse = (text: string) => {
        guest.channels.delete(channel);
        answer.refuse(text);
      };
      if (guest.channels.size >= mostChannels) return refuse("Too many connections are open: close some first");
      guest.channels.add(channel);
      open(door, guest, channel, { host, port }, { ...answer, refuse }, holder).catch((err: unknown) => {
        log.error({ event: "gateway.ssh_failed", err });
        refuse("This cannot be looked up at the moment: try again in a minute");
      });
    },
  };
}

async function open(
  door: Door,
  guest: Guest,
  channel: Channel,
  place: Place,
  answer: Answer,
  holder: KeyHolder,
): Promise<void> {
  // Read again for each channel: the connection may have been open for days.
  const known = await findSshKey(door.db, holder.fingerprint);
  if (known?.keyId !== holder.keyId) return answer.refuse("This key was removed");
  const found = await findOpen(door, holder.userId, place);
  if (typeof found === "string") return answer.refuse(found);
  const keys = await authorizedKeysOf(door.db, holder.userId);
  if (guest.socket.destroyed) return;
  const onEnd = () => guest.channels.delete(channel);
  channel.destroy = joinSsh(door.join, found.target, found.run, { address: guest.address, keys, ...answer, onEnd });
}
