import { credits, redeemVoucher as redeemCall } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import { mount, success } from "../../http/mount.ts";
import { countWindows } from "../../identity/count-windows.ts";
import { readCredits } from "./read-credits.ts";
import { redeemVoucher } from "./redeem-voucher.ts";

interface CreditDeps {
  readonly db: Db;
  /** Codes that an account may try, as many as it may try passwords. */
  readonly triesPerMinute: number;
}

const minuteMs = 60_000;

/** Open credits, and vouchers that become one (G153, G155). */
export function creditRoutes(app: FastifyInstance, { db, triesPerMinute }: CreditDeps): void {
  const tries = countWindows(db, { name: "voucher", limit: triesPerMinute, windowMs: minuteMs });

  mount(app, credits, async ({ user }) => ({ ...success, credits: [...(await readCredits(db, user.id))] }));

  mount(app, redeemCall, async ({ user, body }) => {
    // Counted before the code is looked at, so that concurrent tries count.
    const waitMs = await tries.take(user.id);
    if (waitMs > 0)
      throw new AppError("rate_limited", "Too many codes were tried. Try again in a minute.", {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    return { ...success, credit: await redeemVoucher(db, user.id, body.code) };
  });
}
