import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { send } from "../../testing/customer.ts";
import type { Rented, Shop } from "./open-shop.ts";
import type { Operate, Scene } from "./scene.ts";

const student = "ada@uni.example";

export async function credits(shop: Shop, operate: Operate): Promise<Scene> {
  await shop.signUp(student);
  const [id = ""] = /\w{25}$/.exec(await operate(`npm run operator -- credits grant ${student} 1 --reason Test`)) ?? [];
  await operate("npm run operator -- vouchers create --hours 1 --count 1 --reason Test");
  const [kind = ""] = /\b\w{25}\b/.exec(await operate("npm run operator -- vouchers list")) ?? [];
  const codes = () =>
    readFileSync(join(shop.folder, "home", "codes.txt"), "utf8")
      .trim()
      .split("\n");
  const code = () => (existsSync(join(shop.folder, "home", "codes.txt")) ? (codes()[0] ?? "") : "");
  return {
    values: () => [
      ["a1b2c3d4e5f6g7h8j9k0m1n2p", id],
      ["p2n1m0k9j8h7g6f5e4d3c2b1a", kind],
      ["7K3MQ-0T9W2-MZP7X-K4Q0T", code()],
      ["2027-06-30", `${new Date().getUTCFullYear() + 1}-06-30`],
    ],
    after: async () => {
      expect(codes()).toHaveLength(30);
      const rows = await shop.db.selectFrom("vouchers").select("revoked_at").execute();
      expect(rows.filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(1);
      const granted = await shop.db.selectFrom("granted_credits").select(["gpu_hours", "revoked_at"]).execute();
      expect(granted).toEqual(
        expect.arrayContaining([
          { gpu_hours: 20, revoked_at: null },
          { gpu_hours: 1, revoked_at: expect.any(Date) },
        ]),
      );
    },
  };
}

export async function orders(shop: Shop): Promise<Scene> {
  const customer = await shop.signUp("renter@uni.example");
  const { environmentId, orderId, gatewayOrderId } = await shop.rent(customer, "my-lab");
  // The page ends the first one before it announces something to those who rent.
  await shop.rent(customer, "my-other-lab");
  const { number } = await shop.db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  const { id: host } = await shop.db.selectFrom("hosts").select("id").executeTakeFirstOrThrow();
  const ticket = await ticketOf(shop, customer);
  const titles = async () =>
    (await shop.db.selectFrom("notifications").select("title").where("user_id", "=", customer.userId).execute()).map(
      ({ title }) => title,
    );
  return {
    values: () => [
      ["INV-8k2mq0x7v1c", number],
      ["order_Nw7Xb2kQz1", gatewayOrderId],
      ["a1b2c3d4e5f6g7h8j9k0m1n2p", environmentId],
      ["BRT-a1b2c3-4567", ticket],
      ["--host gpu-1", `--host ${host}`],
    ],
    after: async () => {
      await expect
        .poll(() => shop.db.selectFrom("environments").select("status").where("order_id", "=", orderId).execute())
        .toEqual([{ status: "terminated" }]);
      // The worker sends announcements.
      await expect.poll(titles).toEqual(expect.arrayContaining(["Maintenance", `An answer to ${ticket}`]));
    },
  };
}

async function ticketOf({ product }: Shop, { userId, email, idToken }: Awaited<ReturnType<Shop["signUp"]>>) {
  const description = "It does not start.";
  const body = { issueType: "other", description, userEmail: email, userId };
  return String((await send(product.url, "POST", "/support/tickets", { token: idToken, body })).body.ticketId);
}

export async function payments(shop: Shop): Promise<Scene> {
  const customer = await shop.signUp("payer@uni.example");
  const [granted, declined] = [await shop.rent(customer, "granted"), await shop.rent(customer, "declined")];
  for (const { orderId } of [granted, declined]) await askForRefund(shop, customer.idToken, orderId);
  await hold(shop, customer.userId, declined);
  return {
    values: () => [
      ["rzp_test_...", "rzp_test_0000000000"],
      ["_SECRET=...", "_SECRET=words"],
      ["decline ORDER", `decline ${declined.orderId}`],
      ["ORDER", granted.orderId],
      ["unflag USER", `unflag ${customer.userId}`],
    ],
    after: async () => {
      const rows = await shop.db.selectFrom("refund_requests").select(["order_id", "status"]).execute();
      expect(new Map(rows.map(({ order_id, status }) => [order_id, status]))).toEqual(
        new Map([
          [granted.orderId, "granted"],
          [declined.orderId, "declined"],
        ]),
      );
      expect(await shop.db.selectFrom("account_holds").selectAll().where("lifted_at", "is", null).execute()).toEqual(
        [],
      );
    },
  };
}

async function askForRefund({ product }: Shop, token: string, orderId: string): Promise<void> {
  const body = { reason: "other", text: "It was not what I expected." };
  const { status } = await send(product.url, "POST", `/orders/${orderId}/refund-request`, { token, body });
  expect(status).toBe(200);
}

/** As after a lost dispute. */
async function hold({ db }: Shop, user_id: string, { orderId }: Rented): Promise<void> {
  const { id: payment_id } = await db
    .selectFrom("payments")
    .select("id")
    .where("order_id", "=", orderId)
    .executeTakeFirstOrThrow();
  const at = new Date();
  const amounts = { amount_minor: 1, lost_minor: 1, counted_minor: 1, currency: "USD" };
  const dispute = { id: "lost", gateway: "embedded", gateway_dispute_id: "disp_lost", phase: "chargeback", ...amounts };
  await db
    .insertInto("disputes")
    .values({ ...dispute, payment_id, user_id, status: "lost", created_at: at, closed_at: at })
    .execute();
  await db.insertInto("account_holds").values({ user_id, dispute_id: "lost" }).execute();
}
