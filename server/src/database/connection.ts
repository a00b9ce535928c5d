import type { EventEmitter } from "node:events";
import { Client } from "pg";

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
