import { type Loop, startInterval } from "../async/start-interval.ts";
import type { Db } from "../database/database.ts";
import { purgeSamples } from "../environments/activity/samples.ts";
import { purgeFormerNames } from "../environments/allocation/former-names.ts";
import { purgeFindings } from "../environments/mining/record-finding.ts";
import { purgeQueue } from "../environments/queue/join-queue.ts";
import { purgeRuns } from "../environments/reconciler/purge-runs.ts";
import { purgeSignIns } from "../gateway/principal/grants.ts";
import { purgeIdentity } from "../identity/purge-identity.ts";
import { type Logger, logError } from "../logging/create-logger.ts";
import { purgeMails } from "../mail/outbox.ts";
import { purgeNotifications } from "../notifications/notifications.ts";
import { purgeOrders, purgeProviderEvents } from "../payments/orders/purge-orders.ts";
import { purgeSearches } from "../support/docs-searches.ts";

const intervalMs = 3_600_000;

export const purges = [
  purgeFindings,
  purgeFormerNames,
  purgeProviderEvents,
  purgeIdentity,
  purgeMails,
  purgeNotifications,
  purgeOrders,
  purgeQueue,
  purgeRuns,
  purgeSamples,
  purgeSearches,
  purgeSignIns,
];

/** Deletes expired data every hour (docs/operate/retention.md). A failed purge does not block the others. */
export function startPurging(db: Db, log: Logger): Loop {
  return startInterval({
    name: "purge",
    work: async () => {
      for (const purge of purges) await purge(db).catch(logError(log, "purge.failed"));
      return intervalMs;
    },
    intervalMs,
    log,
  });
}
