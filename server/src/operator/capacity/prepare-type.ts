import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { isPreparedOnRequest } from "../../environments/hosts/start-preparing-images.ts";
import { CapacityRefused } from "./capacity-refused.ts";

/**
 * Asks a host to prepare a type that it does not prepare by itself (G101); its loop begins within a minute, and tries again
 * what fails. Returns false when it is ready or on its way. Throws for a type that the host does not know, and for a host
 * whose images are built by a command.
 */
export async function prepareType(db: Db, hostId: string, type: string, author: Author): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const image = await tx
      .selectFrom("host_images")
      .innerJoin("hosts", "hosts.id", "host_id")
      .where("host_id", "=", hostId)
      .where("container_type", "=", type)
      .select(["state", "kind", "message"])
      .forUpdate("host_images")
      .executeTakeFirst();
    if (!image) throw new CapacityRefused(`${hostId} has no type ${type}`);
    if (image.state !== "unavailable") return false;
    if (!isPreparedOnRequest(image.kind)) throw new CapacityRefused(image.message);
    await tx
      .updateTable("host_images")
      .set({ state: "preparing", message: "", asked_at: sql`now()`, updated_at: sql`now()` })
      .where("host_id", "=", hostId)
      .where("container_type", "=", type)
      .execute();
    await recordAct(tx, author, "type.prepare", type, { host: hostId });
    return true;
  });
}
