import { ConfigError } from "../config/config.ts";
import { isLostConnection } from "../database/connection.ts";
import { SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError } from "../database/embedded-database-error.ts";
import { DriverError } from "../drivers/driver.ts";

const forOperator = [ConfigError, EmbeddedDatabaseError, SchemaError, DriverError];

/** What a server prints when it ends by an error: a sentence where the operator can act on it, else the error with its stack. */
export function failureOf(error: unknown): unknown {
  // Closing what was open fails as well, for instance without a database: the first error is the cause.
  if (error instanceof SuppressedError) return failureOf(error.suppressed);
  if (!(error instanceof Error)) return error;
  if ("code" in error && error.code === "EADDRINUSE")
    return `Port ${"port" in error ? error.port : ""} is taken by another program. Stop it, or set PORT to another port.`;
  if (isLostConnection(error)) return `The database cannot be reached any more: ${error.message}`;
  return forOperator.some((kind) => error instanceof kind) ? error.message : error;
}
