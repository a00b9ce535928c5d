import { createHash } from "node:crypto";
import { resetPassword } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { enqueueMail } from "../mail/outbox.ts";
import { resetLetter } from "../mail/reset-letter.ts";
import { countWindows, refuseUntil } from "./count-windows.ts";
import { type Identity, IdentityError } from "./identity.ts";
import { refusalOf } from "./refusal-of.ts";

interface Parts {
  readonly db: Db;
  readonly identity: Identity;
  /** The base of the link: from the settings, never from a request. */
  readonly appUrl: string;
  readonly brandName: string;
  readonly resetMailsPerHour: number;
}

const hourMs = 3_600_000;
/** No answer comes sooner, so that its time does not tell whether there is an account. */
const answerAfterMs = 250;

/**
 * `POST /auth/reset-password`: three an hour for each address, counted whether it has an account or not, so that neither
 * answer nor limit tells (G47, G52, G91). The count is held in this process: with several, each grants its own share.
 */
export function resetRoutes(app: FastifyInstance, parts: Parts): void {
  const asked = countWindows(parts.resetMailsPerHour, hourMs);

  mount(app, resetPassword, async ({ body }) => {
    const [result] = await Promise.allSettled([ask(parts, asked, body.email), pause(answerAfterMs)]);
    if (result.status === "fulfilled") return success;
    const { reason } = result;
    throw (reason instanceof IdentityError && refusalOf(reason)) || reason;
  });
}

async function ask(parts: Parts, asked: ReturnType<typeof countWindows>, address: string): Promise<void> {
  const { db, identity, appUrl, brandName } = parts;
  refuseUntil(asked.take(address.trim().normalize("NFKC").toLowerCase()));
  const code = await identity.createActionCode("PASSWORD_RESET", address);
  const user = await identity.getUser({ email: address });
  if (code === null || user === null) return;
  const link = `${appUrl}/reset-password?oobCode=${encodeURIComponent(code)}`;
  await db.transaction().execute((tx) =>
    enqueueMail(tx, {
      userId: user.uid,
      // Where the account is, not where somebody said it is.
      to: user.email,
      cause: `password-reset:${createHash("sha256").update(code).digest("hex")}`,
      usefulForSeconds: hourMs / 1000,
      ...resetLetter({ brandName, name: user.name, link }),
    }),
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
