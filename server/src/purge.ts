import type { Db } from "./database/database.ts";
import { purgeRuns } from "./environments/purge-runs.ts";
import { purgeQueue } from "./environments/queue.ts";
import { purgeSamples } from "./environments/samples.ts";
import { purgeSignIns } from "./gateway/grants.ts";
import { purgeIdentity } from "./identity/purge-identity.ts";
import { type Loop, startLoop } from "./loop.ts";
import { purgeMails } from "./mail/outbox.ts";
import { purgeNotifications } from "./notifications/notifications.ts";
import { purgeEvents, purgeOrders } from "./payments/purge-payments.ts";

const intervalMs = 3_600_000;

export const purges = [
  purgeEvents,
  purgeIdentity,
  purgeMails,
  purgeNotifications,
  purgeOrders,
  purgeQueue,
  purgeRuns,
  purgeSamples,
  purgeSignIns,
];

/** Nothing grows for ever: each part deletes what it can no longer use (docs/retention.md). One that fails does not keep the others. */
export function startPurging(db: Db, failed: (error: unknown) => void): Loop {
  return startLoop(
    async () => {
      for (const purge of purges) await purge(db).catch(failed);
      return intervalMs;
    },
    intervalMs,
    failed,
  );
}
