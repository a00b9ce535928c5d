import { createHash } from "node:crypto";
import { resetPassword, verifyEmail } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { enqueueMail } from "../mail/outbox.ts";
import { resetEmail } from "../mail/reset-email.ts";
import { verificationEmail } from "../mail/verification-email.ts";
import { type ActionKind, type Identity, IdentityError } from "./identity.ts";
import { limitMails, type MailLimits } from "./limit-mails.ts";
import { refusalOf } from "./refusal-of.ts";

interface Parts {
  readonly db: Db;
  readonly identity: Identity;
  /** The base of the link: from the settings, never from a request. */
  readonly appUrl: string;
  readonly brandName: string;
  readonly limits: MailLimits;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** No answer comes sooner, so that its time does not tell whether there is an account. */
const answerAfterMs = 250;

/** The links that are mailed to an account's own address: a way back in, and the proof that it is read. */
export function mailedLinkRoutes(app: FastifyInstance, parts: Parts): void {
  const mails = limitMails(parts.db, parts.limits);
  resetRoute(app, { ...parts, mails });
  verifyRoute(app, { ...parts, mails });
}

interface Mailing extends Parts {
  readonly mails: ReturnType<typeof limitMails>;
}

/** The same answer, at the same time, whether the address has an account or not (G47). */
function resetRoute(app: FastifyInstance, parts: Mailing): void {
  const ask = async (address: string, from: string) => {
    await parts.mails.ask("PASSWORD_RESET", address, from);
    await mailLink(parts, {
      kind: "PASSWORD_RESET",
      address,
      path: "/reset-password",
      ms: hourMs,
      letter: resetEmail,
    });
  };

  mount(app, resetPassword, async ({ body, request }) => {
    const [result] = await Promise.allSettled([ask(body.email, request.ip), pause(answerAfterMs)]);
    if (result.status === "fulfilled") return success;
    throw refused(result.reason);
  });
}

function verifyRoute(app: FastifyInstance, parts: Mailing): void {
  mount(app, verifyEmail, async ({ user: { email: address, emailVerified }, request }) => {
    if (emailVerified) return success;
    try {
      await parts.mails.ask("VERIFY_EMAIL", address, request.ip);
      await mailLink(parts, {
        kind: "VERIFY_EMAIL",
        address,
        path: "/verify-email",
        ms: dayMs,
        letter: verificationEmail,
      });
    } catch (error) {
      throw refused(error);
    }
    return success;
  });
}

interface Link {
  readonly kind: ActionKind;
  readonly address: string;
  readonly path: string;
  /** How long the code holds, milliseconds. */
  readonly ms: number;
  readonly letter: typeof resetEmail;
}

/** Each request is a mail of its own; for nobody, or a disabled account, none. */
async function mailLink({ db, identity, appUrl, brandName, mails }: Mailing, link: Link): Promise<void> {
  const user = await identity.getUser({ email: link.address });
  if (user === null || user.disabled) return;
  await mails.send(user.email);
  const code = await identity.createActionCode(link.kind, link.address);
  if (code === null) return;
  const url = `${appUrl}${link.path}?oobCode=${encodeURIComponent(code)}`;
  await db.transaction().execute((tx) =>
    enqueueMail(tx, {
      userId: user.uid,
      // Where the account is, not where somebody said it is.
      to: user.email,
      cause: `${link.path.slice(1)}:${createHash("sha256").update(code).digest("hex")}`,
      usefulForSeconds: link.ms / 1000,
      ...link.letter({ brandName, name: user.name, link: url }),
    }),
  );
}

function refused(reason: unknown): unknown {
  return (reason instanceof IdentityError && refusalOf(reason)) || reason;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
