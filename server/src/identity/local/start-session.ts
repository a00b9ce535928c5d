import { hash } from "node:crypto";
import { isIPv4 } from "node:net";
import { deviceWords } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { addressKey } from "../../http/limit-requests.ts";
import { formatInstant } from "../../text/format-instant.ts";
import type { Device } from "../identity.ts";
import { type AuthSession, openAuthSession, type SignInWay } from "./auth-sessions.ts";
import type { LocalDeps } from "./local-deps.ts";

/**
 * Opens a session, and tells the account's owner of a browser that it was not signed in from for 90 days (G427). The caller
 * holds the user's lock.
 */
export async function startSession(
  tx: Tx,
  deps: Pick<LocalDeps, "announce">,
  userId: string,
  way: SignInWay,
  device: Device,
): Promise<AuthSession> {
  const session = await openAuthSession(tx, userId, way, device);
  if (await isNewBrowser(tx, userId, device)) await tell(tx, deps, userId, device, session.authTime);
  return session;
}

/** Notes the browser. Of concurrent sign-ins from a new one, one gets true; the account's first one is not told. */
async function isNewBrowser(tx: Tx, userId: string, device: Device): Promise<boolean> {
  const row = { user_id: userId, hash: hashOf(userId, device) };
  const isNew = await tx
    .insertInto("identity_known_browsers")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["user_id", "hash"])
        .doUpdateSet({ last_used_at: sql`now()` })
        .where("identity_known_browsers.last_used_at", "<", sql<Date>`now() - interval '90 days'`),
    )
    .returning("hash")
    .executeTakeFirst();
  if (!isNew) {
    const mine = tx.updateTable("identity_known_browsers").set({ last_used_at: sql`now()` });
    await mine.where("user_id", "=", userId).where("hash", "=", row.hash).execute();
    return false;
  }
  const other = await tx
    .selectFrom("identity_known_browsers")
    .select("hash")
    .where("user_id", "=", userId)
    .where("hash", "<>", row.hash)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** A program has no token: it is known by the name that it gives itself. */
function hashOf(userId: string, { browser, userAgent = "" }: Device): Buffer {
  return hash("sha256", `${userId}\0${browser ? `token ${browser}` : `program ${userAgent}`}`, "buffer");
}

async function tell(
  tx: Tx,
  { announce }: Pick<LocalDeps, "announce">,
  userId: string,
  { userAgent, ip }: Device,
  at: Date,
): Promise<void> {
  const device = deviceWords(userAgent ?? null);
  const from = ip ? ` from ${coarse(ip)}` : "";
  await announce?.(tx, {
    userId,
    cause: `new-browser:${newId()}`,
    title: `New sign-in: ${device}`,
    body: `${device} signed in to your account${from} on ${formatInstant(at)} UTC, for the first time in 90 days. If it was not you, change your password now: that ends every other sign-in.`,
    link: "/settings?tab=security",
  });
}

/** "203.0.113.x": a network, because a mail is read in more places than the settings. */
function coarse(ip: string): string {
  const network = addressKey(ip);
  return isIPv4(network) ? `${network.slice(0, network.lastIndexOf("."))}.x` : network;
}
