import {
  askForRefund,
  clearOrder as clearOrderCall,
  createEnvironment,
  createOrder,
  extendEnvironment,
  launchWithCredit as launchWithCreditCall,
  unpaidOrders,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { mount, success } from "../../http/mount.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { requestRefund } from "../refunds/request-refund.ts";
import { webhookRoute } from "../settlement/webhook-route.ts";
import { confirmPayment } from "./confirm-payment.ts";
import { clearOrder } from "./end-unpaid-order.ts";
import { launchWithCredit } from "./launch-with-credit.ts";
import { placeExtension } from "./place-extension.ts";
import { placeOrder } from "./place-order.ts";
import { readUnpaidOrders } from "./read-unpaid-orders.ts";

export function paymentRoutes(app: FastifyInstance, deps: PaymentsDeps): void {
  const closing = new AbortController();
  // A call that waits for an environment must not delay the shutdown: it returns "still starting" instead.
  app.addHook("preClose", async () => closing.abort());

  mount(app, createOrder, ({ body, user }) => placeOrder(deps, user, body));
  mount(app, extendEnvironment, ({ params, body, user }) => placeExtension(deps, user, params.id, body));

  mount(app, unpaidOrders, async ({ user }) => ({ ...success, orders: await readUnpaidOrders(deps.db, user.id) }));

  mount(app, clearOrderCall, async ({ params, user }) => ({
    status: "success" as const,
    cleared: await clearOrder(deps, user.id, params.order_id),
  }));

  mount(app, askForRefund, async ({ params, body, user }) => ({
    status: "success" as const,
    request: await requestRefund(deps.db, user.id, params.order_id, body),
  }));

  webhookRoute(app, deps);
  mount(app, launchWithCreditCall, ({ body, user }) =>
    launchWithCredit(deps, user, body.container_request, closing.signal),
  );
  mount(app, createEnvironment, ({ body, user }) => confirmPayment(deps, user.id, body, closing.signal));
}
