import { type ContainerRequest, defaultPrices, major, quote } from "@berth/contract";
import type Fastify from "fastify";
import { sql } from "kysely";
import { noLease } from "../../database/work-queue.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";

/** API calls of a browser, as any user. */
export function buyer(app: ReturnType<typeof Fastify>, { db }: PaymentsDeps) {
  const post = async (url: string, userId: string, payload: object) => {
    const response = await app.inject({ method: "POST", url, headers: { "x-user": userId }, payload });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
  return {
    post,
    request: containerRequest,
    order: (userId: string, change: Partial<ContainerRequest> = {}, currency = "USD") =>
      post("/docker/payments/create_order", userId, orderBody(userId, change, currency)),
    create: (userId: string, proof: object, change: Partial<ContainerRequest> = {}) =>
      post("/docker/environment/create", userId, {
        container_request: containerRequest(userId, change),
        payment_data: proof,
      }),
    clear: (userId: string, orderId: string) => post(`/docker/payments/clear/${orderId}`, userId, {}),
    rowOf: (gatewayOrderId: string) =>
      db.selectFrom("orders").selectAll().where("gateway_order_id", "=", gatewayOrderId).executeTakeFirstOrThrow(),
    /** Makes the order's poll due. */
    makeDue: (gatewayOrderId: string) =>
      db
        .updateTable("orders")
        .set({ due_at: sql`now()`, ...noLease })
        .where("gateway_order_id", "=", gatewayOrderId)
        .execute(),
    refundsOf: () => db.selectFrom("refunds").selectAll().orderBy("created_at").execute(),
    environments: () => db.selectFrom("environments").selectAll().orderBy("requested_at").execute(),
    openLeases: () => db.selectFrom("gpu_leases").selectAll().where("released_at", "is", null).execute(),
  };
}

export function containerRequest(userId: string, change: Partial<ContainerRequest> = {}): ContainerRequest {
  return {
    user_id: userId,
    container_type: "jupyter",
    subdomain: `lab-${userId}`,
    gpu_count: 2,
    duration: 1,
    ...change,
  };
}

export function orderBody(userId: string, change: Partial<ContainerRequest> = {}, currency = "USD") {
  const container_request = containerRequest(userId, change);
  const amount = major(
    quote(defaultPrices, container_request.gpu_count, container_request.duration, currency).amountMinor,
  );
  return { container_request, payment_request: { amount, currency, user_id: userId, container_request } };
}
