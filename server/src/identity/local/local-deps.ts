import { hkdfSync } from "node:crypto";
import type { Db, Tx } from "../../database/database.ts";
import type { NoticeCause } from "../../mail/mail-flag.ts";
import { countWindows, type Windows } from "../count-windows.ts";
import { type Seal, sealOf } from "../seal.ts";
import { createAuthSessionReader } from "./auth-sessions.ts";
import { type Attempts, countAttempts } from "./count-attempts.ts";
import { type IdTokenClaims, idTokenReader, type Origin } from "./id-tokens.ts";
import { type SigningKeys, signingKeys } from "./signing-keys.ts";
import type { UserRow } from "./users.ts";

export interface EndedRights {
  readonly shareLinks: number;
  readonly environments: number;
}

export interface LocalOptions {
  readonly db: Db;
  /** The installation's secret, from which this provider derives its keys. */
  readonly secret: Buffer;
  /** A function if the port is known only later; evaluated when a token is signed or verified. */
  readonly appUrl: string | (() => string);
  readonly limits: { readonly signInsPerMinute: number; readonly failuresPerDay?: number };
  /**
   * Revokes others' access to the user's environments and returns the counts (G109). Joins the transaction that ends the
   * sign-ins, before it ends them.
   */
  readonly endRights?: (tx: Tx, userId: string) => Promise<EndedRights>;
  /** Notifies the user, in the transaction of the event. */
  readonly announce?: (
    tx: Tx,
    notice: { userId: string; cause: NoticeCause; title: string; body: string; link: string | null },
  ) => Promise<void>;
}

/** Shared dependencies of the local provider's functions. */
export interface LocalDeps extends Omit<LocalOptions, "appUrl"> {
  /** Base URL of this provider, without the version. */
  readonly baseUrl: () => string;
  readonly attempts: Attempts;
  /** Of codes of the second factor, by account. */
  readonly codeTries: { readonly short: Windows; readonly day: Windows };
  readonly factorSeal: Seal;
  /** Of the challenges of passkeys. */
  readonly challengeKey: Buffer;
  /** Of sign-ins with a passkey, by passkey and network. */
  readonly passkeyTries: Windows;
  readonly keys: SigningKeys;
  readonly macKey: Buffer;
  readonly origin: () => Origin;
  readonly readIdToken: (token: string) => Promise<IdTokenClaims>;
  readonly readSession: (id: string, userId: string) => Promise<UserRow>;
}

export function localDeps({ appUrl, ...options }: LocalOptions): LocalDeps {
  const { signInsPerMinute, failuresPerDay } = options.limits;
  const baseUrl = () => `${typeof appUrl === "string" ? appUrl : appUrl()}/identity`;
  const keys = signingKeys(options.db, sealOf(options.secret, "identity key seal v1"));
  const origin = () => ({ issuer: baseUrl(), audience: "berth" });
  return {
    ...options,
    baseUrl,
    attempts: countAttempts(options.db, { perMinute: signInsPerMinute, failuresPerDay }),
    codeTries: {
      short: countWindows(options.db, { name: "second factor", limit: 10, windowMs: 15 * 60_000 }),
      day: countWindows(options.db, { name: "second factor, day", limit: 100, windowMs: 86_400_000 }),
    },
    factorSeal: sealOf(options.secret, "identity factor v1"),
    challengeKey: derive(options.secret, "identity passkey v1"),
    passkeyTries: countWindows(options.db, { name: "passkey", limit: signInsPerMinute, windowMs: 60_000 }),
    keys,
    macKey: derive(options.secret, "identity refresh v1"),
    origin,
    readIdToken: idTokenReader(keys, origin),
    readSession: createAuthSessionReader(options.db),
  };
}

function derive(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
}
