import type { Config } from "./config.ts";
import { isPublic } from "./conflicts.ts";
import { settings } from "./settings.ts";

/** What the product says in the operator's name by default where the public reads it: one sentence, or none (G351). */
export function speakingDefaults({ appUrl, brand, support, mail }: Config): readonly string[] {
  if (!isPublic(appUrl)) return [];
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
