import type { LegalText } from "./legal-text.ts";
import { refund } from "./refund.ts";

/** By route. A document that is not here yet has a plain page that says so (G98). */
export const legalTexts: Readonly<Record<string, LegalText>> = { "/refund": refund };
