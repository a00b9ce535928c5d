import { legalCompliance } from "./legal-compliance.ts";
import { legalDelivery } from "./legal-delivery.ts";
import { legalPrivacy } from "./legal-privacy.ts";
import { legalRefund } from "./legal-refund.ts";
import { legalTerms } from "./legal-terms.ts";
import type { LegalText } from "./legal-text.ts";

/** By route (spec 2.1, G84). */
export const legalTexts: Readonly<Record<string, LegalText>> = {
  "/terms-condition": legalTerms,
  "/refund": legalRefund,
  "/privacy-policy": legalPrivacy,
  "/legal-compliance": legalCompliance,
  "/delivery-policy": legalDelivery,
};
