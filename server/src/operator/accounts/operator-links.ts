import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { familiarSender } from "../../identity/local/fair-queue.ts";
import { hashPassword, requirePassword } from "../../identity/local/passwords.ts";
import type { Seal } from "../../identity/seal.ts";
import { factorStep, newFactorSecret, newRecoveryCodes, recoveryHash } from "../../identity/second-factor.ts";
import { operatorCommand } from "../../text/operator-command.ts";

/** Who follows a link. */
export interface LinkClient {
  readonly address: string;
  /** A secret of the browser, in its cookie. */
  readonly browser: string;
}

interface LinkDeps {
  readonly db: Db;
  readonly seal: Seal;
  readonly needsSecondFactor: boolean;
}

export interface OpenedLink {
  readonly email: string;
  /** Secret of the second factor, in base32; null where none is needed. */
  readonly secret: string | null;
}

/** Creates a link of 24 hours; only its hash is stored. */
export async function createLink(tx: Tx, operatorId: string): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  await tx
    .insertInto("operator_links")
    .values({ hash: hashOf(code), operator_id: operatorId, expires_at: sql`now() + interval '24 hours'` })
    .execute();
  return code;
}

/**
 * Opens a link. The first browser that does so is the only one that may use it, and from its address only (G144). Throws
 * for a link that is unknown, used, expired or another browser's.
 */
export async function openLink(
  { db, seal, needsSecondFactor }: LinkDeps,
  code: string,
  client: LinkClient,
): Promise<OpenedLink> {
  return await db.transaction().execute(async (tx) => {
    const link = await linkForUpdate(tx, code, client);
    if (link.browser) return { email: link.email, secret: secretOf(link, seal) };
    const secret = needsSecondFactor ? newFactorSecret() : null;
    await tx
      .updateTable("operator_links")
      .set({
        ...{ address: addressKey(client.address), browser: hashOf(client.browser) },
        factor_sealed: secret === null ? null : seal.seal(secret),
      })
      .where("hash", "=", link.hash)
      .execute();
    return { email: link.email, secret };
  });
}

/**
 * Spends a link that this browser opened: sets password and second factor, and ends former sign-ins. Returns the operator
 * and new recovery codes. Throws for a wrong code too, and the link stays open then.
 */
export async function spendLink(
  { db, seal }: LinkDeps,
  { code, password, factor }: { readonly code: string; readonly password: string; readonly factor: string },
  client: LinkClient,
): Promise<{ readonly operatorId: string; readonly recoveryCodes: readonly string[] }> {
  requirePassword(password);
  const passwordHash = await hashPassword(password, familiarSender(client.address));
  return await db.transaction().execute(async (tx) => {
    const link = await linkForUpdate(tx, code, client);
    if (!link.browser) throw new AppError("action_not_allowed", "Open the link first");
    const secret = secretOf(link, seal);
    const step = secret === null ? null : factorStep(secret, factor);
    if (step === undefined)
      throw new AppError("wrong_password", "This code is not right. Is the clock of your phone set by the network?");
    const { operator_id: operatorId } = link;
    await tx
      .updateTable("operators")
      .set({ password_hash: passwordHash, factor_sealed: link.factor_sealed, factor_step: step })
      .where("id", "=", operatorId)
      .execute();
    await tx.updateTable("operator_links").set({ used_at: sql`now()` }).where("hash", "=", link.hash).execute();
    await tx.deleteFrom("operator_sessions").where("operator_id", "=", operatorId).execute();
    const recoveryCodes = secret === null ? [] : await replaceRecoveryCodes(tx, operatorId);
    const author: Author = { actor: `operator:${link.email}`, reason: "" };
    await recordAct(tx, author, "operator.set_up", link.email, { second_factor: secret !== null });
    return { operatorId, recoveryCodes };
  });
}

type Link = RowOf<"operator_links"> & { readonly email: string };

async function linkForUpdate(tx: Tx, code: string, { address, browser }: LinkClient): Promise<Link> {
  const link = await tx
    .selectFrom("operator_links as link")
    .innerJoin("operators as operator", "operator.id", "link.operator_id")
    .selectAll("link")
    .select("operator.email")
    .select(sql<boolean>`link.expires_at <= now()`.as("expired"))
    .where("link.hash", "=", hashOf(code))
    .forUpdate()
    .executeTakeFirst();
  const again = `Whoever runs the server makes a new one: ${operatorCommand("operators reset YOUR-ADDRESS")}`;
  if (!link) throw new AppError("not_found", `This link is not known. ${again}`);
  if (link.used_at) throw new AppError("action_not_allowed", `This link was used before. ${again}`);
  if (link.expired) throw new AppError("action_not_allowed", `This link is older than 24 hours. ${again}`);
  if (link.browser && !link.browser.equals(hashOf(browser)))
    throw new AppError("forbidden", `This link was opened in another browser first. ${again}`);
  if (link.browser && link.address !== addressKey(address))
    throw new AppError("forbidden", `This link was opened from another address first. ${again}`);
  return link;
}

function secretOf({ factor_sealed }: Link, { unseal }: Seal): string | null {
  if (!factor_sealed) return null;
  const secret = unseal(factor_sealed);
  if (secret === undefined) throw new AppError("action_not_allowed", "The installation's secret was changed since");
  return secret;
}

async function replaceRecoveryCodes(tx: Tx, operatorId: string): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  await tx.deleteFrom("operator_recovery_codes").where("operator_id", "=", operatorId).execute();
  await tx
    .insertInto("operator_recovery_codes")
    .values(codes.map((code) => ({ operator_id: operatorId, hash: recoveryHash(code) })))
    .execute();
  return codes;
}

const hashOf = (text: string) => hash("sha256", text, "buffer");
