import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { diskGb } from "../../drivers/unit-limits.ts";
import type { Announce } from "../notice.ts";

/** Hysteresis: notified at 90 %, and again only after it was below 80 %. */
const [fullMb, roomyMb] = [diskGb * 900, diskGb * 800];

/** Notifies owners whose environments have nearly used up their disk. */
export async function notifyFullHomes(
  db: Db,
  announce: Announce,
  samples: readonly { readonly environmentId: string; readonly homeMb: number }[],
): Promise<void> {
  if (samples.length === 0) return;
  const sizes = samples.map(({ environmentId: id, homeMb }) => ({ id, homeMb }));
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Crossing>`
      with sizes as (select * from jsonb_to_recordset(${JSON.stringify(sizes)}) as s (id text, "homeMb" real))
      update homes h set full_told_at = case when "homeMb" >= ${fullMb} then now() end
      from sizes join environments e on e.id = sizes.id
      where h.home = e.home and h.host_id = e.host_id and case when h.full_told_at is null
        then "homeMb" >= ${fullMb} else "homeMb" < ${roomyMb} end
      returning e.id, e.user_id as "userId", e.subdomain, sizes."homeMb", h.full_told_at as at`.execute(tx);
    for (const { id, userId, subdomain, homeMb, at } of rows) {
      if (!at) continue;
      await announce(tx, {
        userId,
        cause: `full:${id}:${at.toISOString()}`,
        title: `${subdomain} is nearly full`,
        body: `Its files take ${Math.round(homeMb / 1000)} of ${diskGb} GB. Delete or download what you do not need: where nothing is left, nothing can be saved.`,
        link: `/environments/${id}`,
      });
    }
  });
}

interface Crossing {
  readonly id: string;
  readonly userId: string;
  readonly subdomain: string;
  readonly homeMb: number;
  readonly at: Date | null;
}
