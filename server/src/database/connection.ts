import type { EventEmitter } from "node:events";
import { Client, DatabaseError } from "pg";

export interface Connection {
  readonly connectionString?: string;
  /** Where to listen, if not there: behind a pooler no notification arrives. */
  readonly listenString?: string | undefined;
  readonly host?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** SCRAM authentication only: the password is never sent. */
  readonly scramOnly?: true;
}

/**
 * Refuses cleartext and MD5 authentication: a server that asks for those is not the embedded database but an impostor.
 * `pg` calls these two methods by name.
 */
class ScramClient extends Client {
  _handleAuthCleartextPassword(): void {
    refuse(this);
  }

  _handleAuthMD5Password(): void {
    refuse(this);
  }
}

function refuse(client: Client): void {
  const { connection } = client as Client & { connection: EventEmitter };
  connection.emit("error", new Error("This server is not the embedded database: it requests the password itself"));
}

/** The connection that listens: the database's own address. */
export function listeningConnection({ listenString, ...connection }: Connection): Connection {
  return listenString === undefined ? connection : { ...connection, connectionString: listenString };
}

/** The client class for a connection. */
export function clientOf({ scramOnly }: Connection): typeof Client {
  return scramOnly ? ScramClient : Client;
}

/** Errors of database connections. Codes alone are ambiguous: a client's connection has ECONNRESET too. */
const connectionErrors = new WeakSet<Error>();

/** Marks an error as one of a connection, which `isLostConnection` recognizes. */
export function noteLost(error: Error): void {
  connectionErrors.add(error);
}

export function throwLost(error: Error): never {
  noteLost(error);
  throw error;
}

/** Whether the database itself is unavailable: down, restarting, out of connections or disk, or refusing the login. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return lostCode.test(error.code ?? "");
  return connectionErrors.has(error) || lostMessage.test(error.message);
}

const lostCode = /^(08...|28...|3D...|53...|57P0.)$/;
/** Messages of driver errors without a code. */
const lostMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end|driver has already been destroyed)/;
