import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { everyRow, testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "The host was slow";

/** A delivered order of 24 hours for $4.80, half of which are used, whose owner asked for a refund. */
async function setup() {
  const tenants = await testApp();
  const { db } = tenants;
  const stop = tenants.deliver();
  const ada = await tenants.signUp();
  const { environment_id } = await tenants.rent(ada, { gpu_count: 1, duration: 24 });
  await stop();
  await db
    .updateTable("environments")
    .set({ expires_at: null, status: "stopped", desired: "stopped", banked_seconds: 12 * 3600 })
    .execute();
  const { id } = await db.selectFrom("orders").select("id").executeTakeFirstOrThrow();
  await tenants.must("POST", `/orders/${id}/refund-request`, ada.token, {
    reason: "partial_downtime",
    text: "It was away for half a day.",
  });
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  const post = (path: string, body: object = {}) => own.call("POST", `orders/${id}/${path}`, body);
  const show = () => own.must("GET", `orders/${id}`);
  const refunds = () => db.selectFrom("refunds").select(["amount_minor", "reason"]).execute();
  const mails = () => db.selectFrom("mails").select(["subject", "body_text"]).orderBy("created_at").execute();
  const full = { share: "full", minor: 0, refunded_minor: 0, words: "", reason, typed: "first-lab" };
  return { db, ada, id, environment_id, own, post, show, refunds, mails, full };
}

/** All rows but those of the sign-in, which notes when it was used. */
async function kept(db: Db) {
  const { operator_sessions: _, ...rows } = await everyRow(db);
  return rows;
}

test("orders are found by id, receipt and address, newest first, a page at a time", async () => {
  const { db, ada, id, own } = await setup();
  const order = await db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  const copies = Array.from({ length: 60 }, (_, index) => ({
    ...{ ...order, id: newId(), gateway_order_id: `order_${index}`, subdomain: `lab-${index}`, paid_at: null },
    ...{ status: "expired" as const, created_at: new Date(order.created_at.getTime() - (index + 1) * 1000) },
  }));
  await db.insertInto("orders").values(copies).execute();
  const search = async (text: string, before = "") => await own.must("POST", "orders/search", { text, before });
  const first = await search("");
  expect(first.more).toBe(true);
  expect(first.orders[0]).toMatchObject({
    ...{ id, status: "fulfilled", email: ada.email, subdomain: "first-lab", amount_minor: 480, refund_minor: 0 },
  });
  const second = await search("", first.orders.at(-1).id);
  expect(second.more).toBe(false);
  const names = [...first.orders, ...second.orders].map(({ subdomain }: { subdomain: string }) => subdomain);
  expect(names).toEqual(["first-lab", ...copies.map(({ subdomain }) => subdomain)]);
  const receipt = await db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  for (const word of [id, ` ${receipt.number} `, "first-lab"])
    expect(await search(word), word).toMatchObject({ orders: [{ id }], more: false });
  expect((await search(ada.email)).more).toBe(true);
  expect((await search("nothing")).orders).toEqual([]);
});

test("who waits for a refund is listed with what is unused; an order is shown as its owner sees it", async () => {
  const { id, ada, environment_id, own, show } = await setup();
  expect((await own.must("GET", "refund-requests")).requests).toMatchObject([
    {
      ...{ order_id: id, subdomain: "first-lab", email: ada.email, reason: "partial_downtime" },
      ...{ text: "It was away for half a day.", amount_minor: 480, refund_minor: 0, prorated_minor: 240 },
    },
  ]);
  const shown = await show();
  expect(shown).toMatchObject({
    order: { id, amount: 4.8, references: { environment: environment_id }, may_ask_refund: false },
    owner: { id: ada.id, email: ada.email },
    request: { reason: "partial_downtime" },
    acts: [],
  });
  expect(shown.order.timeline.map(({ kind }: { kind: string }) => kind)).toEqual(
    expect.arrayContaining(["ordered", "paid", "delivered", "refund_asked"]),
  );
  expect((await own.call("GET", `orders/${newId()}`)).statusCode).toBe(404);
});

test("open disputes are listed, the next to respond to first", async () => {
  const { db, ada, id, own } = await setup();
  const payment = await db.selectFrom("payments").select("id").executeTakeFirstOrThrow();
  const at = new Date();
  const dispute = {
    ...{ gateway: "embedded", payment_id: payment.id, user_id: ada.id, phase: "chargeback", amount_minor: 480 },
    ...{ currency: "USD", created_at: at },
  };
  const row = (name: string, status: "open" | "won", change: object) => ({
    ...{ ...dispute, id: name, gateway_dispute_id: `disp_${name}`, status, ...change },
  });
  await db
    .insertInto("disputes")
    .values([
      row("a", "open", { respond_by: new Date(at.getTime() + 2_000_000) }),
      row("b", "won", { closed_at: at }),
      row("c", "open", { respond_by: new Date(at.getTime() + 1_000_000) }),
    ])
    .execute();
  const listed = { order_id: id, subdomain: "first-lab", email: ada.email, phase: "chargeback", amount_minor: 480 };
  expect((await own.must("GET", "disputes")).disputes).toMatchObject([
    { ...listed, gateway_dispute_id: "disp_c" },
    { ...listed, gateway_dispute_id: "disp_a" },
  ]);
});

test("G146 a refund shows what goes back, changes nothing until it is given, and is given once for what was shown", async () => {
  const { db, id, post, show, refunds, mails, full } = await setup();
  const before = await kept(db);
  const preview = await post("refund/preview");
  expect(preview.json()).toMatchObject({
    ...{ currency: "USD", paid_minor: 480, refunded_minor: 0, runs: false },
    ...{ used_seconds: 12 * 3600, total_seconds: 24 * 3600 },
    full: {
      minor: 480,
      consequences: [expect.anything(), "With this refund no paid time of first-lab is left, so it ends now."],
    },
    prorated: { minor: 240 },
  });
  expect(await kept(db)).toEqual(before);
  expect(await refunds()).toEqual([]);

  const given = await post("refund", { ...full, share: "prorated", words: " We are sorry. " });
  expect(given.json()).toMatchObject({ message: "$2.40 of first-lab goes back" });
  const again = await post("refund", { ...full, share: "prorated" });
  expect([again.statusCode, again.json().message]).toEqual([
    409,
    `Something else happened to ${id}: $2.40 of it is refunded by now. Look at it again.`,
  ]);
  expect(await refunds()).toEqual([{ amount_minor: 240, reason: "discretionary" }]);
  expect((await mails()).at(-1)).toMatchObject({
    subject: "Refund granted",
    body_text: expect.stringContaining("We are sorry."),
  });
  expect(await show()).toMatchObject({
    request: null,
    acts: [{ act: "refund.grant", reason, actor: "operator:ada@berth.example", details: { amount_minor: 240 } }],
  });
  const more = await post("refund", { ...full, share: "amount", minor: 100, refunded_minor: 240 });
  expect(more.json().message).toBe("$1.00 of first-lab goes back");
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G145 G146 a refund without a reason, a name or a possible amount is refused, and nothing is written", async () => {
  const { db, id, own, post, full } = await setup();
  const before = await kept(db);
  const refusals = [
    [{ reason: " " }, 400, /^This needs a reason/],
    [{ typed: "first" }, 400, /^Type first-lab/],
    [{ share: "amount", minor: 481 }, 409, /^1 to 480 minor units/],
    [{ share: "amount", minor: 0 }, 409, /^1 to 480 minor units/],
    [{ share: "amount", minor: 1.5 }, 409, /^1 to 480 minor units/],
    [{ share: "all" }, 400, /share/],
    [{ refunded_minor: 1 }, 409, /^Something else happened/],
  ] as const;
  for (const [change, status, message] of refusals) {
    const reply = await post("refund", { ...full, ...change });
    expect([reply.statusCode, reply.json().message], JSON.stringify(change)).toEqual([
      status,
      expect.stringMatching(message),
    ]);
  }
  for (const path of ["refund", "decline", "receipt"])
    expect((await post(path, { ...full, reason: "" })).json().message, path).toMatch(/^This needs a reason/);
  expect((await post("decline", { words: " ", reason })).json().message).toBe("Write what the customer reads");
  for (const path of ["refund", "refund/preview", "decline", "receipt"])
    expect((await own.call("POST", `orders/${newId()}/${path}`, { ...full, words: "No" })).statusCode, path).toBe(404);
  expect(await kept(db)).toEqual(before);
  await db.updateTable("orders").set({ status: "refunding", due_at: new Date() }).where("id", "=", id).execute();
  expect((await post("refund/preview")).json()).toMatchObject({
    ...{ code: "action_not_allowed", message: expect.stringMatching(/is refunding/) },
  });
});

test("a request is declined with words that its owner reads, and a receipt is mailed again", async () => {
  const { db, own, post, show, refunds, mails } = await setup();
  const decline = () => post("decline", { words: "It ran all the time.", reason });
  expect((await decline()).json().message).toBe("The request for first-lab is declined");
  expect((await decline()).json().message).toBe("The request for first-lab was declined");
  expect((await mails()).at(-1)).toMatchObject({
    subject: "Refund not granted",
    body_text: expect.stringContaining("It ran all the time."),
  });
  expect((await own.must("GET", "refund-requests")).requests).toEqual([]);
  expect(await refunds()).toEqual([]);
  expect((await post("receipt", { reason })).json().message).toMatch(
    /^The receipt INV-\S+ is in its owner's bell only: mail is off, /,
  );
  expect((await mails()).at(-1)?.subject).toMatch(/^Receipt INV-/);
  expect((await show()).acts.map(({ act }: { act: string }) => act)).toEqual(["order.resend", "refund.decline"]);
  expect(await readAudit(db, { limit: 1 })).toMatchObject([{ act: "order.resend", reason }]);
});
