import type { ColumnType, Generated } from "kysely";
import type { AccountTables } from "./account-tables.ts";
import type { EmbeddedGatewayTables } from "./embedded-gateway-tables.ts";
import type { EnvironmentTables } from "./environment-tables.ts";
import type { IdentityTables } from "./identity-tables.ts";
import type { PaymentTables } from "./payment-tables.ts";

interface InstallationTable {
  id: string;
  one: Generated<boolean>;
  started_at: Generated<Date>;
  /** Hex; null before the first start of a version that writes it. */
  secret_fingerprint: Generated<string | null>;
}

interface ProcessesTable {
  id: string;
  roles: string[];
  version: string;
  migration: string;
  host_name: string;
  pid: number;
  /** `ProcessSettings` of operator/processes.ts. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the writer's, further right
  settings: ColumnType<any, string, string>;
  started_at: Generated<Date>;
  seen_at: Generated<Date>;
}

/** Every table of the product, an area a file; the schema itself is migrations/. */
export interface Tables extends IdentityTables, AccountTables, EnvironmentTables, PaymentTables, EmbeddedGatewayTables {
  installation: InstallationTable;
  processes: ProcessesTable;
}
