import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { resetPassword, verifyEmail } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { enqueueMail } from "../mail/outbox.ts";
import { resetEmail } from "../mail/reset-email.ts";
import { verificationEmail } from "../mail/verification-email.ts";
import type { ActionKind, Identity } from "./identity.ts";
import { limitMails, type MailLimits } from "./limit-mails.ts";
import { refused } from "./refusal-of.ts";

interface MailedLinkDeps {
  readonly db: Db;
  readonly identity: Identity;
  /** Base URL of the links: from the settings, never from a request's Host. */
  readonly appUrl: string;
  readonly brandName: string;
  readonly limits: MailLimits;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Minimum response time, so that timing does not reveal whether an account exists. */
const minResponseMs = 250;

/** Mails links to an account's own address: password reset and email verification. */
export function mailedLinkRoutes(app: FastifyInstance, deps: MailedLinkDeps): void {
  const mails = limitMails(deps.db, deps.limits);
  resetRoute(app, { ...deps, mails });
  verifyRoute(app, { ...deps, mails });
}

interface MailingDeps extends MailedLinkDeps {
  readonly mails: ReturnType<typeof limitMails>;
}

/** Response and timing are the same whether the address has an account or not (G47). */
function resetRoute(app: FastifyInstance, deps: MailingDeps): void {
  const sendLink = async (address: string, from: string) => {
    await deps.mails.countRequest("PASSWORD_RESET", address, from);
    await mailLink(deps, {
      kind: "PASSWORD_RESET",
      address,
      path: "/reset-password",
      lifetimeMs: hourMs,
      email: resetEmail,
    });
  };

  mount(app, resetPassword, async ({ body, request }) => {
    const [result] = await Promise.allSettled([sendLink(body.email, request.ip), pause(minResponseMs)]);
    if (result.status === "fulfilled") return success;
    throw refused(result.reason);
  });
}

function verifyRoute(app: FastifyInstance, deps: MailingDeps): void {
  mount(app, verifyEmail, async ({ user: { email: address, emailVerified }, request }) => {
    if (emailVerified) return success;
    try {
      await deps.mails.countRequest("VERIFY_EMAIL", address, request.ip);
      await mailLink(deps, {
        kind: "VERIFY_EMAIL",
        address,
        path: "/verify-email",
        lifetimeMs: dayMs,
        email: verificationEmail,
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
  /** Of the code. */
  readonly lifetimeMs: number;
  readonly email: typeof resetEmail;
}

/** Sends one mail per request; none to unknown or disabled accounts. */
async function mailLink({ db, identity, appUrl, brandName, mails }: MailingDeps, link: Link): Promise<void> {
  const user = await identity.getUser({ email: link.address });
  if (user === null || user.disabled) return;
  await mails.countMail(user.email);
  const code = await identity.createActionCode(link.kind, link.address);
  if (code === null) return;
  const url = `${appUrl}${link.path}?oobCode=${encodeURIComponent(code)}`;
  await db.transaction().execute((tx) =>
    enqueueMail(tx, {
      userId: user.uid,
      // The account's stored address, not the spelling of the request.
      to: user.email,
      cause: `${link.path.slice(1)}:${createHash("sha256").update(code).digest("hex")}`,
      usefulForSeconds: link.lifetimeMs / 1000,
      ...link.email({ brandName, name: user.name, link: url }),
    }),
  );
}
