import { catalogue } from "../catalogue.ts";
import { lowestHourlyPrice, typeList } from "./environment-types.ts";
import { gpuNames } from "./gpu-words.ts";

/** The defaults of the development server and of a build without a server. */
export const brand = {
  name: "Berth",
  email: "hello@berth.example",
  supportName: "the founder",
};

/** Follows the brand's name in the title of the landing page. */
export const slogan = "your own GPU by the hour";

/** The landing page's description, inserted into every page. */
export const description = `Rent a dedicated ${gpuNames(catalogue.gpus)} with ${typeList}. Prepaid from ${lowestHourlyPrice} per hour, open in your browser in about 30 seconds.`;

export const exampleHost = "berth.example";

export const legalLinks = [
  { label: "Terms of Service", to: "/terms-condition" },
  { label: "Refund policy", to: "/refund" },
  { label: "Privacy Policy", to: "/privacy-policy" },
  { label: "Legal Compliance", to: "/legal-compliance" },
  { label: "Delivery policy", to: "/delivery-policy" },
];
