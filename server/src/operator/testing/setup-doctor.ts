import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { onTestFinished } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import { addOrder } from "../../environments/testing/setup-environments.ts";
import { askDoctor } from "./run-operator.ts";

export async function setupDoctor() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const folder = mkdtempSync(join(tmpdir(), "berth-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { db } = database;
  const addHost = () => sql`insert into hosts (id, kind) values ('local', 'process')`.execute(db);
  return {
    db,
    addHost,
    folder,
    ask: (env: Record<string, string> = {}) => askDoctor(db, { DATA_DIR: folder, ...env }),
    /** Inserts a paid order of this many days ago, with its payment. */
    async pay(): Promise<string> {
      const id = await addOrder(db, { userId: "ada", subdomain: newId(), gpuCount: 1, durationHours: 1 });
      await sql`
        insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, settles_order, amount_minor, currency)
        values (${id}, ${id}, 'ada', 'embedded', ${`pay_${id}`}, 'captured', true, 20, 'USD')`.execute(db);
      return id;
    },
  };
}
