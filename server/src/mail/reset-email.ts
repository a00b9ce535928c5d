import { type Email, renderEmail } from "./render-email.ts";

/** The password reset link (spec 2.6, G78); its footnotes reassure a user who did not request it. */
export function resetEmail(parts: { brandName: string; name: string | null; link: string }): Email {
  const { brandName, name, link } = parts;
  return renderEmail({
    brandName,
    name,
    subject: `Reset your ${brandName} password`,
    paragraphs: [`Somebody asked for a new password for your ${brandName} account. If it was you, choose one here.`],
    button: { label: "Reset password", url: link },
    footnotes: [
      "The link works once, within 1 hour. A newer one replaces it. A new password signs out every device.",
      "If it was not you, do nothing: your password stays as it is.",
    ],
  });
}
