import type { Config } from "./config.ts";
import { isPublic } from "./conflicts.ts";
import { settings } from "./settings.ts";

/** Where the operator is written to. Undefined where no mail is sent, or only the example of CONTACT_EMAIL is known. */
export function operatorAddress({ brand, mail }: Pick<Config, "brand" | "mail">): string | undefined {
  return mail.smtp && brand.email !== settings.shape.CONTACT_EMAIL.parse(undefined) ? brand.email : undefined;
}

/** What the operator did not set and the public reads, or that keeps mails from going out: sentences, or none (G351). */
export function speakingDefaults(config: Config): readonly string[] {
  return [
    ...(isPublic(config.appUrl) ? readByThePublic(config) : []),
    ...(config.mail.smtp && operatorAddress(config) === undefined
      ? ["CONTACT_EMAIL is not set: the daily mail with the hash of the audit goes to nobody."]
      : []),
  ];
}

function readByThePublic({ brand, support, mail }: Config): readonly string[] {
  const { CONTACT_EMAIL, SUPPORT_NAME, SUPPORT_RESPONSE_TIME } = settings.shape;
  const said = [
    ["CONTACT_EMAIL", brand.email, CONTACT_EMAIL.parse(undefined)],
    ["SUPPORT_NAME", brand.supportName, SUPPORT_NAME.parse(undefined)],
    ["SUPPORT_RESPONSE_TIME", support.responseTime, SUPPORT_RESPONSE_TIME.parse(undefined)],
  ].flatMap(([name, value, byDefault]) => (value === byDefault ? [`${name} ("${value}")`] : []));
  return [
    ...(said.length > 0 ? [`Customers read values that you did not set: ${said.join(", ")}.`] : []),
    ...(mail.smtp ? [] : ["SMTP_URL is not set: nobody gets a mail, and who forgets a password needs an operator."]),
  ];
}
