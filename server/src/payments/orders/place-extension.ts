import { type extendEnvironment, type Input, mayExtend } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import { notFound } from "../../http/mount.ts";
import type { User } from "../../http/request-user.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { type Checkout, checkMayPay, offerOf, placeRequest } from "./place-order.ts";
import { priceRequest } from "./price-request.ts";

/** Orders more hours for the caller's own environment (G100): same GPUs, same price table, no hold. */
export async function placeExtension(
  deps: PaymentsDeps,
  user: User,
  id: string,
  { amount, currency, duration }: Input<typeof extendEnvironment>["body"],
): Promise<Checkout> {
  await checkMayPay(deps, user);
  const row = await deps.db
    .selectFrom("environments")
    .select(["id", "container_type", "subdomain", "gpu_count", "status", "desired", "created_at"])
    .where("id", "=", id)
    .where("user_id", "=", user.id)
    .executeTakeFirst();
  if (!row) throw notFound();
  if (!mayExtend[row.status] || row.desired === "terminated" || !row.created_at)
    throw new AppError("action_not_allowed", `${row.subdomain} cannot be extended now`);
  const { container_type, subdomain, gpu_count } = row;
  const container = { user_id: user.id, container_type, subdomain, gpu_count, duration };
  const request = priceRequest(container, { amount, currency }, await offerOf(deps));
  return placeRequest(deps, user.id, { ...request, extends: id });
}
