import {
  askForRefund,
  clearOrder as clearOrderCall,
  createEnvironment,
  createOrder,
  extendEnvironment,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { mount } from "../../http/mount.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { requestRefund } from "../refunds/request-refund.ts";
import { webhookRoute } from "../settlement/webhook-route.ts";
import { checkEmailVerified } from "./check-quota.ts";
import { confirmPayment } from "./confirm-payment.ts";
import { placeExtension } from "./place-extension.ts";
import { clearOrder, placeOrder } from "./place-order.ts";

/** The dialog's accent: our ink. */
const themeColor = "#0f1517";
const typeNames = { jupyter: "Jupyter", pytorch: "PyTorch", tensorflow: "TensorFlow" } as const;

export function paymentRoutes(app: FastifyInstance, deps: PaymentsDeps): void {
  const closing = new AbortController();
  // A call that waits for an environment must not hold up the shutdown: it answers "still starting" instead.
  app.addHook("preClose", async () => closing.abort());

  const opened = (order: OrderRow) => ({
    status: "success" as const,
    message: "Order created",
    key_id: deps.provider.keyId,
    amount: order.amount_minor,
    currency: order.currency,
    name: deps.brandName,
    description: describe(order),
    id: order.gateway_order_id ?? "",
    theme: { color: themeColor },
    timeout: dialogSeconds(order),
  });

  mount(app, createOrder, async ({ body, user }) => {
    checkEmailVerified(deps, user);
    await deps.checkRoom?.();
    return opened(await placeOrder(deps, user.id, body));
  });
  mount(app, extendEnvironment, async ({ params, body, user }) => {
    checkEmailVerified(deps, user);
    return opened(await placeExtension(deps, user.id, params.id, body));
  });

  mount(app, clearOrderCall, async ({ params, user }) => ({
    status: "success" as const,
    cleared: await clearOrder(deps, user.id, params.order_id),
  }));

  mount(app, askForRefund, async ({ params, body, user }) => ({
    status: "success" as const,
    request: await requestRefund(deps.db, user.id, params.order_id, body),
  }));

  webhookRoute(app, deps);
  mount(app, createEnvironment, ({ body, user }) => confirmPayment(deps, user.id, body, closing.signal));
}

/** A minute less than its hold: 840 s of a new one. Who comes in the last minutes still has its grace. */
function dialogSeconds({ hold_until }: OrderRow): number {
  return Math.max(60, Math.round((hold_until.getTime() - Date.now()) / 1000) - 60);
}

/** "PyTorch environment, 2 GPUs, 6 hours". */
function describe({ container_type, gpu_count, duration_hours, extends: extended }: OrderRow): string {
  return `${extended ? "More time, " : ""}${typeNames[container_type]} environment, ${counted(gpu_count, "GPU")}, ${counted(duration_hours, "hour")}`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
