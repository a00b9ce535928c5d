import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export interface SmtpSettings {
  /** smtp:// or smtps://, with user, password and port where the relay wants them. */
  readonly url: string;
  readonly from: { readonly name: string; readonly address: string };
}

export interface OutgoingMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** `refused`: the relay rejects this mail permanently. Every other failure is thrown and can be retried. */
type Sent = { readonly kind: "sent" } | { readonly kind: "refused"; readonly reason: string };

/** Timeout of one step. A conversation has about ten: the lease in outbox.ts must be longer. */
const silenceMs = 30_000;

/** Opens one connection per mail, so that a broken connection affects one mail only. */
export function smtpSender({ url, from }: SmtpSettings): (mail: OutgoingMail) => Promise<Sent> {
  // Not loaded where no relay is set.
  const { createTransport }: typeof import("nodemailer") = require("nodemailer");
  const transport = createTransport({
    url,
    dnsTimeout: 10_000,
    connectionTimeout: 10_000,
    greetingTimeout: 15_000,
    socketTimeout: silenceMs,
    // Our mails have no attachments from files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ id, to, ...content }) => {
    try {
      await transport.sendMail({
        from,
        // An object, because a string would be parsed as a list of addresses.
        to: { name: "", address: to },
        messageId: `<${id}@${from.address.split("@").at(-1)}>`,
        headers: { "Auto-Submitted": "auto-generated" },
        ...content,
      });
      return { kind: "sent" };
    } catch (error) {
      if (!isForGood(error)) throw error;
      return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
    }
  };
}

/**
 * A 5xx to the recipient or to the mail itself is permanent. A 5xx before that (greeting, authentication, sender address)
 * concerns our settings: the mail is retried until an operator has corrected them.
 */
function isForGood(error: unknown): boolean {
  if (!(error instanceof Error) || !("responseCode" in error) || !("command" in error)) return false;
  const { responseCode, command } = error;
  return Number(responseCode) >= 500 && (command === "RCPT TO" || command === "DATA");
}
