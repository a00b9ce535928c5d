import type { Catalogue } from "@berth/contract";
import type { Changes } from "../../database/changes.ts";
import type { Db, RowOf } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { Seller } from "../ledger/tax.ts";
import type { PollBudget } from "./pace-calls.ts";
import type { Provider } from "./provider.ts";

export type OrderRow = RowOf<"orders">;

/** Dependencies of this folder's modules; created once in main.ts. */
export interface PaymentsDeps {
  readonly db: Db;
  readonly provider: Provider;
  /** Bounds the polls of a minute; without one every due order is polled at once. */
  readonly pollBudget?: PollBudget;
  /** A webhook may be signed with any of them; without one there are no webhooks, and the poller finds everything. */
  readonly webhookSecrets: readonly string[];
  readonly changes: Changes;
  readonly announce: Announce;
  /** G52, G89. */
  readonly caps: {
    readonly gpusPerUser: number;
    readonly launchesPerUser: number;
    readonly ordersPerMinute: number;
    /** Share of the free GPUs that an account without a payment may hold: above 0, 1 for all (G112). */
    readonly newcomerShare: number;
  };
  readonly brandName: string;
  /** What is sold. */
  readonly catalogue: Catalogue;
  /** Set with a GSTIN (TAX_GSTIN): sales are taxed. */
  readonly seller?: Seller | undefined;
  /** Delivery timeout, from payment to "not delivered" (GIVE_UP_AFTER). */
  readonly giveUpAfterSeconds: number;
  /** Throws when there is no disk space for what is sold (P11). */
  readonly checkRoom?: () => Promise<void>;
  readonly log: Logger;
}
