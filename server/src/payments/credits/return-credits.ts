import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import { addCredit } from "./add-credit.ts";
import { gpuHoursText } from "./gpu-hours-text.ts";

interface Refunded {
  readonly id: string;
  readonly user_id: string;
  readonly subdomain: string;
}

/**
 * Gives the refunded share (0 to 1) of an order's granted credits back as one new credit: time, never money (G154). The share
 * is of what has not come back before. The caller has locked the order's row.
 */
export async function returnCredits(tx: Tx, order: Refunded, share: number, announce: Announce): Promise<void> {
  const { rows } = await sql<{ gpu_hours: number; alone: boolean }>`
    with used as (select id, gpu_hours - returned_hours as rest from granted_credits where used_by_order = ${order.id}),
      back as (select id, trunc(rest * least(1, ${share}::numeric), 2) as gpu_hours from used)
    update granted_credits c set returned_hours = returned_hours + back.gpu_hours
    from back where back.id = c.id and back.gpu_hours > 0 returning back.gpu_hours, c.alone`.execute(tx);
  for (const alone of [true, false]) {
    const back = rows.filter((row) => row.alone === alone);
    const gpuHours = back.reduce((sum, { gpu_hours }) => sum + Math.round(gpu_hours * 100), 0) / 100;
    if (gpuHours > 0) await returnAs(tx, order, { gpuHours, alone }, announce);
  }
}

/** What started an environment by itself does so again (G332). */
async function returnAs(
  tx: Tx,
  order: Refunded,
  { gpuHours, alone }: { readonly gpuHours: number; readonly alone: boolean },
  announce: Announce,
): Promise<void> {
  const note = `Unused time of ${order.subdomain}`;
  const credit = await addCredit(tx, {
    ...{ userId: order.user_id, gpuHours, source: "returned", note, alone },
    fromOrder: order.id,
  });
  if (!credit) return;
  await announce(tx, {
    userId: order.user_id,
    cause: `credit:${credit.id}`,
    title: `${gpuHoursText(gpuHours)} came back to you`,
    body: `They came from a credit and were not used in ${order.subdomain}. Your next environment gets them by itself.`,
    link: "/billing",
  });
}
