import type { EventEmitter } from "node:events";
import { Client } from "pg";

export interface Connection {
  readonly connectionString?: string;
  readonly host?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** The password is proved, never sent. */
  readonly scramOnly?: true;
}

/**
 * Proves that it knows the password and never shows it: what asks for the password itself, or for its MD5, is not the
 * embedded database but something that took its place. `pg` calls these two by name for such questions.
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
  connection.emit("error", new Error("What answers is not the embedded database: it asks for the password itself"));
}

/** The kind of client that a connection asks for. */
export function clientOf({ scramOnly }: Connection): typeof Client {
  return scramOnly ? ScramClient : Client;
}
