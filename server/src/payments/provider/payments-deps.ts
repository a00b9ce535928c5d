import type { Changes } from "../../database/changes.ts";
import type { Db, RowOf } from "../../database/database.ts";
import type { Announce } from "../../environments/reconciler/start-reconciler.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { Seller } from "../ledger/tax.ts";
import type { Provider } from "./provider.ts";

export type OrderRow = RowOf<"orders">;

/** What the parts of this folder work with; made once in main.ts. */
export interface PaymentsDeps {
  readonly db: Db;
  readonly provider: Provider;
  /** Any of them signs a webhook; none: there are no webhooks, and the poller finds everything. */
  readonly webhookSecrets: readonly string[];
  readonly changes: Changes;
  readonly announce: Announce;
  /** G52, G89. */
  readonly caps: {
    readonly gpusPerUser: number;
    readonly launchesPerUser: number;
    readonly ordersPerMinute: number;
    /** Of what is free, the share that is kept for an order of who never paid: above 0, and 1 for all (G112). */
    readonly newcomerShare: number;
  };
  readonly brandName: string;
  /** With a GSTIN (TAX_GSTIN): what is sold is taxed. */
  readonly seller?: Seller | undefined;
  /** From payment to "not delivered" (GIVE_UP_AFTER). */
  readonly giveUpAfterSeconds: number;
  /** Refuses where what is sold would have no room (P11). */
  readonly checkRoom?: () => Promise<void>;
  readonly log: Logger;
}
