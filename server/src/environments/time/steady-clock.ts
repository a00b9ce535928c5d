import { uptime } from "node:os";
import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** How far the wall clock and the machine's steady one may differ before nothing is ended by time any more. */
const toleranceSeconds = 60;

export interface SteadyClock {
  /** A condition in SQL: whether `now()` can be trusted to end something. */
  agrees(): Promise<RawBuilder<boolean>>;
  /** Throws when it cannot. */
  require(): Promise<void>;
}

/**
 * Compares the database's clock, by which everything ends, with the uptime of the machine, which nobody can set. The
 * uptime counts sleep too, so a laptop that was closed overnight agrees. After a deliberate change restart the server.
 */
export function steadyClock(db: Db, uptimeSeconds: () => number = uptime): SteadyClock {
  let startedAt: Promise<number> | undefined;

  async function readStart(): Promise<number> {
    const { rows } = await sql<{ seconds: number }>`select extract(epoch from now())::float8 as seconds`.execute(db);
    return (rows[0]?.seconds ?? 0) - uptimeSeconds();
  }

  async function agrees(): Promise<RawBuilder<boolean>> {
    startedAt ??= readStart().catch((error: unknown) => {
      startedAt = undefined;
      throw error;
    });
    const expected = (await startedAt) + uptimeSeconds();
    return sql<boolean>`(abs(extract(epoch from now())::float8 - ${expected}) <= ${toleranceSeconds})`;
  }

  return {
    agrees,
    async require() {
      const { rows } = await sql<{ agrees: boolean }>`select ${await agrees()} as agrees`.execute(db);
      if (!rows[0]?.agrees)
        throw new Error(
          `The wall clock moved by more than ${toleranceSeconds} s against the machine's steady clock: nothing is ended or deleted until they agree again. If the time is right now, restart the server.`,
        );
    },
  };
}
