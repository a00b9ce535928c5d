import { type Email, renderEmail } from "./render-email.ts";

/** Proves that the user who signed up reads this address (G52). */
export function verificationEmail(parts: { brandName: string; name: string | null; link: string }): Email {
  const { brandName, name, link } = parts;
  return renderEmail({
    brandName,
    name,
    subject: `Confirm your email for ${brandName}`,
    paragraphs: ["Before the first payment we make sure that receipts and notices reach you."],
    button: { label: "Confirm this address", url: link },
    footnotes: [
      "The link works once, within 24 hours. A newer one replaces it.",
      "If this is not your account, do nothing.",
    ],
  });
}
