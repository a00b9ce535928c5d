import type { CryptoKey, JWK } from "jose";
import { exportJWK } from "jose/key/export";
import { generateKeyPair } from "jose/key/generate/keypair";
import { importJWK } from "jose/key/import";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Seal } from "../seal.ts";

/** Algorithm of our ID tokens. Verifiers require it: the token's header never chooses the algorithm. */
export const algorithm = "RS256";

export interface SigningKeys {
  current(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The public key; undefined if it is unknown or expired. */
  find(kid: string): Promise<CryptoKey | undefined>;
  /** The public keys, for /identity/.well-known/jwks.json. */
  published(): Promise<readonly JWK[]>;
}

interface KeyRing {
  readonly verifying: ReadonlyMap<string, { readonly key: CryptoKey; readonly jwk: JWK }>;
  readonly signing: { readonly kid: string; readonly key: CryptoKey } | undefined;
  /** The newest signing key is about to expire. */
  readonly needsSuccessor: boolean;
  readonly readAtMs: number;
  readonly readAgainMs: number;
}

const unknownPauseMs = 5_000;
const rereadMs = 3_600_000;
const successorLeadMs = 86_400_000;

/**
 * Rotates signing keys of 30 days. A successor is created a day before it signs, so that every process has read it by then;
 * an old key verifies for two more hours. The key ring is replaced atomically.
 */
export function signingKeys(db: Db, seal: Seal): SigningKeys {
  let ring: KeyRing | undefined;
  let reading: Promise<KeyRing> | undefined;

  function reread(): Promise<KeyRing> {
    reading ??= readWithSuccessor(db, seal).finally(() => {
      reading = undefined;
    });
    return reading.then((read) => {
      ring = read;
      return read;
    });
  }

  async function dueRing(): Promise<KeyRing> {
    return ring && Date.now() < ring.readAgainMs ? ring : reread();
  }

  return {
    async current() {
      const { signing } = await dueRing();
      if (!signing) throw new Error("There is no key to sign with");
      return signing;
    },
    async find(kid) {
      const held = await dueRing();
      const known = held.verifying.get(kid);
      // Limits the queries that forged kids can cause.
      if (known || Date.now() - held.readAtMs < unknownPauseMs) return known?.key;
      return (await reread()).verifying.get(kid)?.key;
    },
    async published() {
      return [...(await dueRing()).verifying.values()].map(({ jwk }) => jwk);
    },
  };
}

async function readWithSuccessor(db: Db, seal: Seal): Promise<KeyRing> {
  const held = await read(db, seal);
  if (!held.needsSuccessor) return held;
  const kid = newId();
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const privateSealed = seal.seal(JSON.stringify(await exportJWK(pair.privateKey)));
  const publicJwk = JSON.stringify(await exportJWK(pair.publicKey));
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(8301550)`.execute(tx);
    // Another process may have created the successor meanwhile.
    const other = await read(tx, seal);
    if (!other.needsSuccessor) return;
    await tx
      .insertInto("identity_key")
      .values({
        kid,
        alg: algorithm,
        public_jwk: publicJwk,
        private_sealed: privateSealed,
        not_after: sql`now() + interval '30 days'`,
      })
      .execute();
  });
  return read(db, seal);
}

async function read(db: Pick<Db, "selectFrom">, seal: Seal): Promise<KeyRing> {
  const rows = await db
    .selectFrom("identity_key")
    .selectAll()
    .where("alg", "=", algorithm)
    .where("not_after", ">", sql<Date>`now() - interval '2 hours'`)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  const verifying = new Map<string, { key: CryptoKey; jwk: JWK }>();
  const signers: { kid: string; key: CryptoKey; endsAtMs: number }[] = [];
  for (const { kid, public_jwk, private_sealed, not_after } of rows) {
    const jwk = { ...public_jwk, kid, alg: algorithm, use: "sig" } as JWK;
    verifying.set(kid, { jwk, key: (await importJWK(jwk, algorithm)) as CryptoKey });
    // A key that another secret sealed only verifies.
    const privateJwk = seal.unseal(private_sealed);
    if (privateJwk !== undefined && not_after.getTime() > Date.now())
      signers.push({
        kid,
        key: (await importJWK(JSON.parse(privateJwk), algorithm)) as CryptoKey,
        endsAtMs: not_after.getTime(),
      });
  }
  const [oldest] = signers;
  const lastEndsAtMs = Math.max(0, ...signers.map(({ endsAtMs }) => endsAtMs));
  const readAtMs = Date.now();
  return {
    verifying,
    signing: oldest,
    needsSuccessor: lastEndsAtMs - readAtMs < successorLeadMs,
    readAtMs,
    readAgainMs: Math.min(readAtMs + rereadMs, oldest?.endsAtMs ?? 0),
  };
}
