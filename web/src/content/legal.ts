import { compliance } from "./legal-compliance.ts";
import { delivery } from "./legal-delivery.ts";
import { privacy } from "./legal-privacy.ts";
import { refund } from "./legal-refund.ts";
import { terms } from "./legal-terms.ts";
import type { LegalText } from "./legal-text.ts";

/** By route (spec 2.1, G84). */
export const legalTexts: Readonly<Record<string, LegalText>> = {
  "/terms-condition": terms,
  "/refund": refund,
  "/privacy-policy": privacy,
  "/legal-compliance": compliance,
  "/delivery-policy": delivery,
};
