import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { DatabaseError, type PoolClient } from "pg";

/** Texts with a list of varying length are many, and each is rare: they are not prepared. */
const mostTexts = 1000;
const preparedFrom = 3;
/** What the server names a statement that a migration of another version has changed the result of. */
const planChanged = "0A000";

/** What is asked of a pool. */
interface Source {
  readonly options: object;
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
}

/**
 * A pool whose connections prepare what is asked often: PostgreSQL then parses and plans it once for each connection, which
 * is three quarters of its work for a short read. Transaction control has no parameters and stays as it is.
 */
export function prepared(pool: Source): PostgresPool {
  const names = statementNames();
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => clientOf(await pool.connect(), names),
  };
}

function clientOf(client: PoolClient, names: StatementNames): PostgresPoolClient {
  async function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const name = values.length > 0 ? names.of(text) : undefined;
    try {
      return await run<R>(text, values, name);
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === planChanged && name !== undefined)) throw error;
      names.renew();
      // Inside a transaction the statement has ended it: the caller's next attempt is prepared anew.
      if (client.getTransactionStatus() !== "I") throw error;
      return await run<R>(text, values);
    }
  }

  async function run<R>(text: string, values: readonly unknown[], name?: string): Promise<PostgresQueryResult<R>> {
    const result = await client.query({ text, values: [...values], ...(name !== undefined && { name }) });
    return result as unknown as PostgresQueryResult<R>;
  }

  return {
    query: query as PostgresPoolClient["query"],
    release: (destroy) => client.release(destroy),
  };
}

interface StatementNames {
  /** Undefined for a text that is not asked often. */
  of(text: string): string | undefined;
  /** All statements get other names, so that each connection prepares them anew. */
  renew(): void;
}

function statementNames(): StatementNames {
  const texts = new Map<string, { uses: number; name: string | undefined }>();
  let named = 0;
  return {
    of(text) {
      const known = texts.get(text);
      if (!known) {
        if (texts.size < mostTexts) texts.set(text, { uses: 1, name: undefined });
        return undefined;
      }
      known.uses += 1;
      if (known.uses >= preparedFrom) known.name ??= `s${named++}`;
      return known.name;
    },
    renew: () => texts.clear(),
  };
}
