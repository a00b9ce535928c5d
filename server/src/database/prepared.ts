import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { DatabaseError, type PoolClient } from "pg";

/** Cache limit: texts with lists of varying length are many and rare. */
const maxTexts = 1000;
const preparedFrom = 3;
/** SQLSTATE of a prepared statement whose result type was changed by a migration. */
const planChanged = "0A000";

/** The part of a pool that is used here. */
interface Source {
  readonly options: object;
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
}

/**
 * Wraps a pool to use prepared statements for frequent queries: parsing and planning once per connection saves three
 * quarters of PostgreSQL's work for a short read. Statements without parameters, such as BEGIN, are not prepared.
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
      // The error has aborted a transaction in progress; a retry by the caller prepares the statement again.
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
  /** Undefined for an infrequent query. */
  of(text: string): string | undefined;
  /** Renames all statements, so that each connection prepares them again. */
  renew(): void;
}

function statementNames(): StatementNames {
  const texts = new Map<string, { uses: number; name: string | undefined }>();
  let named = 0;
  return {
    of(text) {
      const known = texts.get(text);
      if (!known) {
        if (texts.size < maxTexts) texts.set(text, { uses: 1, name: undefined });
        return undefined;
      }
      known.uses += 1;
      if (known.uses >= preparedFrom) known.name ??= `s${named++}`;
      return known.name;
    },
    renew: () => texts.clear(),
  };
}
