import * as z from "zod";
import { isGstin } from "./gstin.ts";

/** What a seller who is taxed in India prints on receipts. */
export const taxSettings = {
  TAX_GSTIN: z
    .string()
    .refine(isGstin, "a GSTIN of 15 characters, whose last one checks the others")
    .optional()
    .describe(
      "The seller's GST number in India; with it what is sold is taxed, inside the price: INR as a sale in your state, USD as an export",
    )
    .meta({ unset: "receipts have no tax", example: "27AAPFU0939F1ZV" }),
  TAX_LEGAL_NAME: z
    .string()
    .min(1)
    .max(120)
    .optional()
    .describe("The seller's registered name, on tax invoices and credit notes; needed with a GSTIN")
    .meta({ example: "Pier LLP" }),
  TAX_ADDRESS: z
    .string()
    .min(1)
    .max(240)
    .optional()
    .describe("The seller's registered address, there too; needed with a GSTIN")
    .meta({ example: "1 Dock Road, Mumbai" }),
  TAX_LUT: z
    .string()
    .regex(/^[A-Z0-9]{8,20}$/, "the reference number (ARN) of a letter of undertaking")
    .optional()
    .describe("Reference number of a letter of undertaking: exports without IGST")
    .meta({ example: "AD270326000000X" }),
};
