import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newLease } from "../../database/work-queue.ts";
import { setup } from "../testing/setup.ts";

test("C12 the response to POST /orders is lost: the order is found by its receipt, not created twice", async () => {
  const cut = cutting("POST /orders", 1);
  const { order, db } = await setup({ between: cut.between });
  const { status, body } = await order("ada");
  expect(status).toBe(200);
  expect(cut.dropped()).toBe(1);
  const made = await db.selectFrom("embedded_gateway_orders").select("id").execute();
  expect(made).toEqual([{ id: body.id }]);
});

test("C12 both responses are lost: nothing charged, and the retry finds that order", async () => {
  const cut = cutting("orders", 2);
  const { order, db, errors, openLeases } = await setup({ between: cut.between });
  const first = await order("ada");
  expect([first.status, first.body.code, first.body.money]).toEqual([503, "unavailable", "nothing_taken"]);
  expect(Number(first.headers["retry-after"])).toBeGreaterThan(0);
  expect(errors).toHaveLength(1);
  expect(await openLeases()).toHaveLength(2);
  const second = await order("ada");
  expect(second.status).toBe(200);
  expect(await db.selectFrom("embedded_gateway_orders").select("id").execute()).toEqual([{ id: second.body.id }]);
});

test("C13 a provider that hangs: the call times out, and the poller releases the draft's hold", async () => {
  const { order, db, openLeases, runOrderPoller } = await setup({ between: hanging, keys: { timeoutMs: 300 } });
  const { status, body } = await order("ada");
  expect([status, body.code]).toEqual([503, "unavailable"]);
  await db.updateTable("orders").set({ created_at: sql`now() - interval '2 minutes'`, due_at: sql`now()` }).execute();
  expect(await openLeases()).toHaveLength(2);
  runOrderPoller();
  await expect.poll(openLeases, { timeout: 10_000 }).toEqual([]);
  expect(await db.selectFrom("orders").select("status").execute()).toEqual([{ status: "expired" }]);
});

test("C14 killed between commit and the provider's response: the draft is opened by the poller, or by the same request", async () => {
  for (const way of ["watch", "request"] as const) {
    const { order, db, runOrderPoller, provider } = await setup();
    const { id } = (await order("ada")).body;
    // State after a kill: the provider has the order, our row is still a draft with an expired lease.
    await db
      .updateTable("orders")
      .set({
        status: "draft",
        gateway_order_id: null,
        ...newLease({ leaseSeconds: 0 }),
        due_at: sql`now()`,
        attempts: 1,
      })
      .execute();
    if (way === "watch") runOrderPoller();
    else expect((await order("ada")).body.id).toBe(id);
    await expect
      .poll(() => db.selectFrom("orders").select(["status", "gateway_order_id"]).execute())
      .toEqual([{ status: "open", gateway_order_id: id }]);
    expect(await provider.paymentsOfOrder(id)).toEqual([]);
    expect(await db.selectFrom("embedded_gateway_orders").select("id").execute()).toHaveLength(1);
  }
});

/** A proxy that forwards matching requests and drops the connection before the response, `times` times. */
function cutting(match: string, times: number) {
  let dropped = 0;
  const between = async (target: string) =>
    listen((request, response) => {
      const { pathname, search } = new URL(request.url ?? "", "http://x");
      const onward = httpRequest(
        `${target}${pathname}${search}`,
        { method: request.method, headers: request.headers },
        (answer) => {
          const cut = `${request.method} ${pathname}`.includes(match) && dropped < times;
          if (cut) {
            dropped++;
            answer.resume().on("end", () => response.destroy());
          } else {
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(response);
          }
        },
      );
      request.pipe(onward);
    });
  return { between, dropped: () => dropped };
}

function hanging(): Promise<string> {
  return listen((request) => void request.resume());
}

async function listen(handle: Parameters<typeof createServer>[1] & {}): Promise<string> {
  const server = createServer(handle);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
