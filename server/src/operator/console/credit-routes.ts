import { plural } from "@berth/contract";
import {
  createVouchers as createCall,
  grantCredit as grantCall,
  readCredits,
  revokeCredit as revokeCall,
  revokeVouchers as revokeVouchersCall,
} from "@berth/contract/console/credits";
import type { FastifyInstance } from "fastify";
import { mount, success } from "../../http/mount.ts";
import { gpuHoursText } from "../../payments/credits/gpu-hours-text.ts";
import { grantCredit, revokeCredit } from "../people/grant-credit.ts";
import { listCredits } from "../people/list-credits.ts";
import { createVouchers, listVouchers, revokeVouchers, voidText } from "../people/vouchers.ts";
import { endOfDay } from "../read-time.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

/** Credits and vouchers: what `operator -- credits` and `operator -- vouchers` do (G153, G155). */
export function creditRoutes(app: FastifyInstance, deps: Pick<ConsoleDeps, "db" | "announce">): void {
  const { db } = deps;
  mount(app, readCredits, async () => {
    const [credits, vouchers] = await Promise.all([listCredits(db, undefined), listVouchers(db)]);
    return { ...success, credits: onWire(credits), vouchers: onWire(vouchers) };
  });
  mount(app, grantCall, async ({ params, body: { hours, gpus, reason }, request }) => {
    const gpuHours = hours * gpus;
    await grantCredit(deps, params.id, gpuHours, authorOf(request, reason));
    return { ...success, message: `${gpuHoursText(gpuHours)} are granted; the owner is notified` };
  });
  mount(app, revokeCall, async ({ params: { id }, body: { reason }, request }) => {
    const isNew = await revokeCredit(deps, id, authorOf(request, reason));
    return { ...success, message: isNew ? "The credit is revoked; its owner is notified" : "It was revoked before" };
  });
  mount(app, createCall, async ({ body: { hours, gpus, count, per_month, last_day, reason }, request }) => {
    const wanted = {
      ...{ gpuHours: hours * gpus, count, perMonth: per_month ?? undefined },
      expiresAt: last_day === null ? undefined : endOfDay(new Date(last_day)),
    };
    const { id, codes } = await createVouchers(db, wanted, authorOf(request, reason));
    return {
      ...success,
      message: `${plural(codes.length, "code")} of ${gpuHoursText(wanted.gpuHours)}`,
      id,
      codes,
    };
  });
  mount(app, revokeVouchersCall, async ({ body: { voucher, reason }, request }) => {
    return { ...success, message: voidText(await revokeVouchers(db, voucher.trim(), authorOf(request, reason))) };
  });
}
