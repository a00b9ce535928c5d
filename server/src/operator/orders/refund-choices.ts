import type { Author } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import { previewRefund } from "../../payments/refunds/grant-refund.ts";
import { type Calculation, calculateRefund } from "./calculate-refund.ts";
import { describeRefund } from "./refund-requests.ts";

export interface RefundChoice {
  /** Minor units. */
  readonly amountMinor: number;
  /** What happens to each paid order of the environment, and to its remaining time. */
  readonly consequences: readonly string[];
}

interface RefundChoices {
  readonly calculation: Calculation;
  readonly full: RefundChoice;
  /** Null where no time is left. */
  readonly prorated: RefundChoice | null;
}

/** Returns what a refund would give back now, by each share, and changes nothing. Throws RefundRefused where none is possible. */
export async function refundChoices(
  deps: { readonly db: Db; readonly announce: Announce },
  orderId: string,
  author: Author,
): Promise<RefundChoices> {
  const calculation = await calculateRefund(deps.db, orderId);
  const decision = { ...deps, author, orderId, message: "", again: true };
  const choose = (share: "full" | "prorated") =>
    previewRefund(decision, share, async (tx, granted): Promise<RefundChoice> => {
      const [, ...lines] = await describeRefund(tx, orderId, granted);
      return { amountMinor: granted.amountMinor, consequences: lines.map((line) => line.trim()) };
    });
  const full = await choose("full");
  return { calculation, full, prorated: calculation.proratedMinor > 0 ? await choose("prorated") : null };
}
