import type { Socket } from "node:net";

/** One connection that has not signed in yet. */
export interface Arrival {
  onHandshake(): void;
  /** Before a signature is looked up; false: this address has tried too often. */
  mayTry(): boolean;
  /** It has signed with a key of nobody. */
  onWrongKey(): void;
  onSignIn(): void;
}

const mostUnknown = 200;
const mostUnknownPerAddress = 60;
const mostPerAddress = 200;
const mostWrong = 10;
const windowMs = 60_000;
const handshakeMs = 20_000;
/** A passphrase or a touch of a key may be asked for. */
const signInMs = 120_000;

/**
 * Limits those who have not signed in: how many there are, how long each may take, and how often an address may try a wrong key.
 * An address without a key, a load balancer's, has none of its own.
 */
export function createArrivals() {
  let unknown = 0;
  const open = new Map<string, { all: number; unknown: number }>();
  const wrong = new Map<string, number>();
  const forget = setInterval(() => wrong.clear(), windowMs);
  forget.unref();

  return {
    /** Undefined where too many are open. */
    arrive(socket: Socket, address: string | undefined): Arrival | undefined {
      const ofAddress = open.get(address ?? "") ?? { all: 0, unknown: 0 };
      if (unknown >= mostUnknown) return undefined;
      if (address !== undefined && (ofAddress.all >= mostPerAddress || ofAddress.unknown >= mostUnknownPerAddress))
        return undefined;
      open.set(address ?? "", ofAddress);
      ofAddress.all++;
      ofAddress.unknown++;
      unknown++;
      let timer = setTimeout(() => socket.destroy(), handshakeMs);
      let isUnknown = true;
      const known = () => {
        clearTimeout(timer);
        if (!isUnknown) return;
        isUnknown = false;
        unknown--;
        ofAddress.unknown--;
      };
      socket.once("close", () => {
        known();
        if (--ofAddress.all === 0) open.delete(address ?? "");
      });
      return {
        onHandshake() {
          clearTimeout(timer);
          if (isUnknown) timer = setTimeout(() => socket.destroy(), signInMs);
        },
        mayTry: () => address === undefined || (wrong.get(address) ?? 0) < mostWrong,
        onWrongKey() {
          if (address !== undefined) wrong.set(address, (wrong.get(address) ?? 0) + 1);
        },
        onSignIn() {
          known();
          // An agent tries its other keys first, at each connection.
          if (address !== undefined) wrong.delete(address);
        },
      };
    },
    close: () => clearInterval(forget),
  };
}
