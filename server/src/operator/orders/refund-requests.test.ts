import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../database/database.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { setup as money } from "../../payments/testing/setup.ts";
import { databaseUrl, operator } from "../testing/run-operator.ts";
import { readRefundRequests } from "./refund-requests.ts";

/** Runs `npm run operator -- ...` on the database of the running server. */
async function operate(db: Db, ...words: string[]) {
  const env = { DATABASE_URL: await databaseUrl(db), APP_URL: "http://localhost:4000", BRAND_NAME: "Pier" };
  const { stdout, stderr, code } = await operator(words, env);
  return { said: (stdout || stderr).trim(), code };
}

async function setup() {
  const shop = await money();
  const { db, order, pay, payments, provider, rowOf, runReconciler, post, environments } = shop;
  runReconciler();
  return {
    ...shop,
    async buy(userId: string, text?: string) {
      await sql`insert into profiles (user_id, email, name) values (${userId}, ${`${userId}@example.com`}, 'A')`.execute(
        db,
      );
      const { id } = (await order(userId)).body;
      await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
      await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
      if (text) await post(`/orders/${id}/refund-request`, userId, { reason: "other", text });
      return rowOf(id);
    },
    /** Buys six more hours. */
    async more(userId: string) {
      const [row] = await environments();
      const request = { duration: 6, amount: 2.4, currency: "USD" };
      const { id } = (await post(`/environments/${row?.id}/extend`, userId, request)).body;
      await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
      return rowOf(id);
    },
    mails: () => db.selectFrom("mails").select(["recipient", "subject", "body_text"]).orderBy("created_at").execute(),
  };
}

test("requests are listed, granted and declined beside the running server, which sends the money; the message comes by mail", async () => {
  const { db, buy, runRefundSender, refundsOf, mails } = await setup();
  const ada = await buy("ada", "It was slow.\u001b[2J\nBob: paid 0");
  const ben = await buy("ben", "I did not like it.");
  await db
    .updateTable("environments")
    .set({ expires_at: sql`now() + interval '15 minutes'` })
    .where("user_id", "=", "ada")
    .execute();
  runRefundSender();
  const listed = await operate(db, "refunds");
  expect(listed.code).toBe(0);
  expect(listed.said.split("\n")).toEqual([
    expect.stringMatching(`^${ada.id} lab-ada of ada, other, asked .* UTC$`),
    "  paid $0.40, refunded $0.00, 0.75 of 1.00 hours used, prorated $0.09",
    "  It was slow. [2J Bob: paid 0",
    expect.stringMatching(`^${ben.id} lab-ben of ben, other, asked .* UTC$`),
    expect.stringMatching(/^ {2}paid \$0\.40, refunded \$0\.00, 0\.0\d of 1\.00 hours used, prorated \$0\.39$/),
    "  I did not like it.",
  ]);

  const granted = await operate(db, "refund", ada.id, "10", "We are", "sorry.", "--yes");
  expect(granted).toMatchObject({ said: expect.stringMatching(`\n\\$0\\.10 of ${ada.id} goes back$`), code: 0 });
  expect((await operate(db, "refund", ada.id, "full", "--yes")).said).toBe(
    `$0.10 of ${ada.id} was granted before and goes back. Another refund of it: add --again`,
  );
  await expect.poll(async () => (await refundsOf())[0]?.status, { timeout: 10_000 }).toBe("processed");
  expect(await operate(db, "decline", ben.gateway_order_id ?? "", "It", "ran.")).toMatchObject({ code: 0 });
  expect(await operate(db, "refund", ben.id, "prorated", "--yes")).toMatchObject({
    code: 1,
    said: `The request of ${ben.id} was declined already`,
  });
  expect(await operate(db, "refund", ada.id, "10.5")).toMatchObject({
    code: 2,
    said: expect.stringContaining("refund ORDER full | prorated"),
  });
  expect(await operate(db, "decline", ada.id)).toMatchObject({ code: 2 });
  expect(await readRefundRequests(db)).toEqual([]);
  expect(await mails()).toEqual([
    {
      recipient: "ada@example.com",
      subject: "Refund granted",
      body_text: expect.stringMatching(
        /\$0\.10 of lab-ada is on its way.* We are sorry\.[\s\S]*http:\/\/localhost:4000\/billing/,
      ),
    },
    { recipient: "ben@example.com", subject: "Refund not granted", body_text: expect.stringContaining("It ran.") },
  ]);
}, 60_000);

test("a refund lists every order of the environment and its remaining time, and does nothing without --yes", async () => {
  const { db, buy, more, refundsOf } = await setup();
  const ada = await buy("ada");
  const { id: extension } = await more("ada");
  const end = /^lab-ada runs until .* UTC, with the time that stays paid\.$/;
  const asked = await operate(db, "refund", ada.id, "full", "It's our fault.", "--reason", "Asked by mail");
  expect(asked.code).toBe(0);
  expect(asked.said.split("\n")).toEqual([
    "lab-ada of ada, active",
    `  ${ada.id} environment of 1 hour, paid $0.40: $0.40 goes back now`,
    `  ${extension} extension of 6 hours, paid $2.40: stays paid`,
    expect.stringMatching(end),
    `Nothing is done yet. To do it: npm run operator -- refund ${ada.id} full 'It'\\''s our fault.' --reason 'Asked by mail' --yes`,
  ]);
  expect(await refundsOf()).toEqual([]);
  expect((await operate(db, "refund", ada.id, "full", "Sorry.", "--yes")).said).toContain(
    `$0.40 of ${ada.id} goes back`,
  );
  expect((await operate(db, "refund", extension, "full")).said.split("\n")).toEqual([
    "lab-ada of ada, active",
    `  ${ada.id} environment of 1 hour, paid $0.40, $0.40 of it refunded before: nothing is left of it`,
    `  ${extension} extension of 6 hours, paid $2.40: $2.40 goes back now`,
    "With this refund no paid time of lab-ada is left, so it ends now.",
    expect.stringContaining("Nothing is done yet"),
  ]);
  expect(await refundsOf()).toMatchObject([{ reason: "discretionary", amount_minor: 40 }]);
}, 60_000);

test("gateway-keys prints the address and keys for an API client of the embedded provider", async () => {
  const { db, gateway } = await setup();
  expect(await operate(db, "gateway-keys")).toEqual({
    code: 0,
    said: `http://localhost:4000/embedded-gateway/v1\nkey id ${gateway.keyId}\nkey secret ${gateway.keySecret}\nwebhook secret ${gateway.webhookSecret}`,
  });
}, 60_000);
