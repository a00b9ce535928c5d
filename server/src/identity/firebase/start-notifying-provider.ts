import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db, RowOf } from "../../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  finishAndDelete,
  type Leased,
  retryIn,
  workQueue,
} from "../../database/work-queue.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { findUser } from "../local/users.ts";
import { type FirebaseProject, type ProviderUrls, providerUrls } from "./firebase-project.ts";
import { type ProviderCalls, providerCalls, unlessUnknown } from "./provider-calls.ts";

interface NotifyingDeps {
  readonly db: Db;
  readonly project: FirebaseProject;
  readonly log: Logger;
  /** Elsewhere in tests. */
  readonly urls?: ProviderUrls;
}

const intervalMs = 5_000;
/** Longer than two calls of the provider take at most. */
const queue = workQueue("hosted_changes", ["user_id"], 60);

/** Notifies the hosted provider which accounts were deleted or suspended here, until it has answered (G321). */
export function startNotifyingProvider({ db, project, log, urls = providerUrls(project) }: NotifyingDeps): Loop {
  const calls = providerCalls(project, urls);
  return startInterval({
    name: "notify-provider",
    work: async () => {
      const rows = await fetchDue(db, queue, { where: sql`true`, limit: 10, set: { attempts: sql`attempts + 1` } });
      await Promise.all(rows.map((row) => notify({ db, calls, log }, row)));
      return rows.length > 0 ? 0 : intervalMs;
    },
    intervalMs,
    log,
  });
}

/** Says how the account stands now, so that it may be said twice. */
async function notify(
  { db, calls, log }: Pick<NotifyingDeps, "db" | "log"> & { readonly calls: ProviderCalls },
  row: Leased<RowOf<"hosted_changes">>,
): Promise<void> {
  const localId = row.user_id;
  try {
    const user = await findUser(db, { uid: localId });
    await (user
      ? calls.admin(":update", { localId, disableUser: user.disabled })
      : calls.admin(":delete", { localId })
    ).catch(unlessUnknown);
    await finishAndDelete(db, queue, row);
  } catch (error) {
    log.warn({ event: "identity.not_notified", userId: localId, err: error });
    await finish(db, queue, row, retryIn(backoffMs(row.attempts), error));
  }
}
