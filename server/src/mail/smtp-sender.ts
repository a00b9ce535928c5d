import { createTransport } from "nodemailer";

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

/** `refused`: the relay will never take this mail. Everything else that fails is thrown, and worth another try. */
type Sent = { readonly kind: "sent" } | { readonly kind: "refused"; readonly reason: string };

/** The longest that one conversation may be silent. A conversation has about ten steps: see the lease's length in outbox.ts. */
const silenceMs = 30_000;

/** One connection a mail: whatever a relay or the road to it does to one conversation, the next starts afresh. */
export function smtpSender({ url, from }: SmtpSettings): (mail: OutgoingMail) => Promise<Sent> {
  const transport = createTransport({
    url,
    dnsTimeout: 10_000,
    connectionTimeout: 10_000,
    greetingTimeout: 15_000,
    socketTimeout: silenceMs,
    // Nothing in a mail of ours is read from a file or fetched from an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ id, to, ...content }) => {
    try {
      await transport.sendMail({
        from,
        // An object, because text would be read as a list of addresses.
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
 * A 5xx to the recipient or to the mail itself is the relay's last word. A 5xx to anything before (the greeting, the
 * sign-in, our sender address) is about our settings: the mail waits until an operator has put them right.
 */
function isForGood(error: unknown): boolean {
  if (!(error instanceof Error) || !("responseCode" in error) || !("command" in error)) return false;
  const { responseCode, command } = error;
  return Number(responseCode) >= 500 && (command === "RCPT TO" || command === "DATA");
}
