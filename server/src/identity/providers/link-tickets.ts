import { sealOf } from "../seal.ts";

const lifetimeMs = 5 * 60_000;

/**
 * Leads a browser from Settings, where the password was asked, to a provider. A ticket alone connects nothing: that takes its
 * owner's sign-in again, lest somebody is led into another's account (G419).
 */
export function linkTickets(secret: Buffer) {
  const seal = sealOf(secret, "identity link ticket v1");
  return {
    issue: (userId: string, provider: string): string =>
      seal.seal(JSON.stringify({ userId, provider, until: Date.now() + lifetimeMs })).toString("base64url"),

    /** The user's id; undefined for another provider's, a forged or an old one. */
    read(ticket: string, provider: string): string | undefined {
      const sealed = Buffer.from(ticket, "base64url");
      // Nonce and tag.
      const text = sealed.length > 28 ? seal.unseal(sealed) : undefined;
      if (text === undefined) return undefined;
      const found: { userId: string; provider: string; until: number } = JSON.parse(text);
      return found.provider === provider && found.until > Date.now() ? found.userId : undefined;
    },
  };
}
