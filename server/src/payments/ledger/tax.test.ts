import { sql } from "kysely";
import { expect, test } from "vitest";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";
import type { CreditNoteDocument, ReceiptDocument } from "./receipt-document.ts";
import { computeCreditedTax, computeTax, serialText, splitTax, taxYear } from "./tax.ts";

const seller = {
  gstin: "27AAPFU0939F1ZV",
  legalName: "Pier LLP",
  address: "1 Dock Road, Mumbai 400001",
  lut: undefined,
};

async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money({ seller, ...options });
  const { db, order, addPayment, payments, provider } = shop;
  const observe = async (paymentId: string) => settlePayment(payments, await provider.payment(paymentId));
  return {
    ...shop,
    observe,
    async buy(userId: string, currency: "USD" | "INR" = "INR") {
      const { id } = (await order(userId, { gpu_count: 1, subdomain: `lab-${userId}` }, currency)).body;
      return { id, paymentId: await addPayment(id) };
    },
    receipts: async () =>
      (await db.selectFrom("receipts").selectAll().orderBy("issued_at").execute()).map(({ document, ...row }) => ({
        ...row,
        document: document as ReceiptDocument,
      })),
    notes: async () =>
      (await db.selectFrom("credit_notes").selectAll().orderBy("issued_at").execute()).map(({ document, ...row }) => ({
        ...row,
        document: document as CreditNoteDocument,
      })),
    refundByHand: async (paymentId: string, amountMinor: number, key: string) => {
      await provider.refund({ paymentId, amountMinor, key: `dashboard-${key}`, notes: {} });
      await observe(paymentId);
    },
  };
}

test("C44 the series has no gap and no duplicate under 100 parallel settlements, one of them rolled back and repeated", async () => {
  const { db, buy, observe, receipts } = await setup({ slots: 100 });
  const users = Array.from({ length: 100 }, (_, index) => `u${index}`);
  const bought: { readonly paymentId: string }[] = [];
  for (let from = 0; from < users.length; from += 10)
    bought.push(...(await Promise.all(users.slice(from, from + 10).map((user) => buy(user)))));
  // Fails at the end of the transaction, after the number was taken.
  await sql
    .raw(`create function refuse_u13() returns trigger language plpgsql as $$ begin raise exception 'planted'; end $$;
    create constraint trigger planted after insert on receipts deferrable initially deferred
    for each row when (new.user_id = 'u13') execute function refuse_u13()`)
    .execute(db);
  const outcomes = await Promise.allSettled(bought.map(({ paymentId }) => observe(paymentId)));
  expect(outcomes.flatMap((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : []))).toEqual([
    "error: planted",
  ]);
  await sql`drop trigger planted on receipts`.execute(db);
  const numbers = async () => (await receipts()).map(({ tax_no }) => tax_no ?? 0).sort((a, b) => a - b);
  expect(await numbers()).toEqual(Array.from({ length: 99 }, (_, index) => index + 1));
  expect(await observe(bought[13]?.paymentId ?? "")).toBe("settled");
  expect(await numbers()).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  const serials = (await receipts()).map(({ document }) => document.tax?.serial ?? "");
  expect(new Set(serials).size).toBe(100);
  for (const serial of serials) expect(serial).toMatch(/^TI\/\d\d-\d\d\/\d{7}$/);
}, 60_000);

test("C44 an invoice number that collides is tried again with a new id, and so is a credit note's", async () => {
  const { db, buy, observe, receipts, refundByHand, notes } = await setup();
  const [first, second] = [await buy("ada"), await buy("ben")];
  expect(await observe(first.paymentId)).toBe("settled");
  await refundByHand(first.paymentId, 100, "first");
  const collide = (table: string, key: string, other: string) =>
    sql
      .raw(`create table planted_${table} (n integer); insert into planted_${table} values (1);
      create function collide_${table}() returns trigger language plpgsql as $$ begin
        update planted_${table} set n = n - 1 where n > 0;
        if found then new.${key} := ${other}; end if;
        return new; end $$;
      create trigger collide before insert on ${table} for each row execute function collide_${table}()`)
      .execute(db);
  await collide("payments", "id", "(select left(id, 11) from payments limit 1) || substr(new.id, 12)");
  await collide("credit_notes", "number", "(select number from credit_notes limit 1)");
  expect(await observe(second.paymentId)).toBe("settled");
  await refundByHand(second.paymentId, 100, "second");
  expect(new Set((await receipts()).map(({ number }) => number)).size).toBe(2);
  expect(new Set((await notes()).map(({ number }) => number)).size).toBe(2);
  const { rows } = await sql<{
    n: number;
  }>`select n from planted_payments union all select n from planted_credit_notes`.execute(db);
  expect(rows).toEqual([{ n: 0 }, { n: 0 }]);
});

test("a sale in rupees is taxed inside its price, frozen with the payment, and credited to the paisa", async () => {
  const { buy, observe, receipts, refundByHand, notes, db, rowOf } = await setup();
  const { id, paymentId } = await buy("ada");
  await observe(paymentId);
  const [receipt] = await receipts();
  expect(receipt?.document).toMatchObject({
    ...{ amount_minor: 1800, currency: "INR", subdomain: "lab-ada", mode: "embedded", number: receipt?.number },
    tax: {
      ...{ sac: "998315", place_of_supply: "Maharashtra (27)", kind: "cgst_sgst", endorsement: null },
      seller: { gstin: seller.gstin, legal_name: "Pier LLP", address: seller.address },
      taxable_minor: 1525,
      lines: [
        { label: "CGST 9%", amount_minor: 137 },
        { label: "SGST 9%", amount_minor: 138 },
      ],
    },
  });
  for (const [key, minor] of [
    ["a", 701],
    ["b", 2],
    ["c", 1097],
  ] as const)
    await refundByHand(paymentId, minor, key);
  await observe(paymentId);
  const credited = await notes();
  expect(credited.map(({ amount_minor }) => amount_minor)).toEqual([701, 2, 1097]);
  expect(credited.map(({ tax_series, tax_no }) => `${tax_series} ${tax_no}`)).toEqual(["TC 1", "TC 2", "TC 3"]);
  const sums = [0, 1].map((line) =>
    credited.reduce((sum, { document }) => sum + (document.tax?.lines[line]?.amount_minor ?? 0), 0),
  );
  expect(sums).toEqual([137, 138]);
  expect(credited.reduce((sum, { document }) => sum + (document.tax?.taxable_minor ?? 0), 0)).toBe(1525);
  expect(credited[0]?.document).toMatchObject({
    ...{ reason: "external", receipt_number: receipt?.number, receipt_serial: receipt?.document.tax?.serial },
    ...{ credited_minor: 701, amount_minor: 1800, number: credited[0]?.number },
  });
  expect((await rowOf(id)).status).not.toBe("fulfilled");
  const again = sql`insert into credit_notes (number, refund_id, payment_id, user_id, amount_minor, document)
    select 'CRN-x', refund_id, payment_id, user_id, amount_minor, document from credit_notes limit 1`.execute(db);
  await expect(again).rejects.toThrow("credit_notes_refund_id_key");
});

test("a refund has its credit note once the provider has processed it; a payment that bought nothing has no tax", async () => {
  const { order, addPayment, observe, runRefundSender, receipts, notes } = await setup();
  const { id } = (await order("ada", {}, "INR")).body;
  await observe(await addPayment(id, { amount_minor: 39 }));
  expect((await receipts())[0]?.document).toMatchObject({ amount_minor: 39, tax: null });
  expect(await notes()).toEqual([]);
  runRefundSender();
  await expect.poll(async () => (await notes()).length, { timeout: 10_000 }).toBe(1);
  const [note] = await notes();
  expect(note).toMatchObject({
    tax_series: null,
    amount_minor: 39,
    number: expect.stringMatching(/^CRN-[0-9a-z]{11}$/),
  });
  expect(note?.document).toMatchObject({
    reason: "wrong_amount",
    tax: null,
    arn: expect.any(String),
    gateway_refund_id: expect.stringMatching(/^rfnd_/),
  });
});

test("refunded before it was recorded: receipt and credit note in one transaction", async () => {
  const { order, addPayment, observe, receipts, notes } = await setup();
  const { id } = (await order("ada")).body;
  await observe(await addPayment(id, { refunded_minor: 40 }));
  expect((await receipts()).map(({ document }) => document.tax)).toEqual([null]);
  expect((await notes()).map(({ amount_minor }) => amount_minor)).toEqual([40]);
});

test("without a GSTIN there is no tax anywhere", async () => {
  const { buy, observe, receipts, refundByHand, notes, db } = await setup({ seller: undefined });
  const { paymentId } = await buy("ada");
  await observe(paymentId);
  await refundByHand(paymentId, 5, "a");
  expect([(await receipts())[0]?.document.tax, (await notes())[0]?.document.tax]).toEqual([null, null]);
  expect(await db.selectFrom("invoice_series").selectAll().execute()).toEqual([]);
});

test("the currency decides the customer's country and so the tax", () => {
  const of = (change: Partial<typeof seller> | { lut: string }, currency: string) => {
    const { kind, lines, place_of_supply, endorsement } = computeTax(
      { ...seller, ...change },
      { amountMinor: 11_800, currency },
    );
    return [
      kind,
      lines.map(({ label, amount_minor }) => `${label} ${amount_minor}`).join(),
      place_of_supply,
      endorsement,
    ];
  };
  expect(of({}, "INR")).toEqual(["cgst_sgst", "CGST 9% 900,SGST 9% 900", "Maharashtra (27)", null]);
  expect(of({ gstin: "04AAPFU0939F1Z3" }, "INR")).toEqual([
    "cgst_utgst",
    "CGST 9% 900,UTGST 9% 900",
    "Chandigarh (04)",
    null,
  ]);
  expect(of({}, "USD")).toEqual([
    ...["igst", "IGST 18% 1800", "Outside India (96)"],
    "Supply meant for export on payment of integrated tax.",
  ]);
  expect(of({ lut: "AD270326000000X" }, "USD")).toEqual([
    ...["none", "IGST 0% 0", "Outside India (96)"],
    "Supply meant for export under letter of undertaking (AD270326000000X) without payment of integrated tax.",
  ]);
});

test("whole minor units: round(total / 1.18), and every split into credit notes adds up", () => {
  for (let total = 1; total <= 4000; total++) {
    const { taxable_minor, lines } = splitTax("cgst_sgst", total);
    expect(taxable_minor).toBe(Math.round((total * 100) / 118));
    expect(taxable_minor + lines.reduce((sum, { amount_minor }) => sum + amount_minor, 0)).toBe(total);
    const cut = 7919 % total;
    const parts = [computeCreditedTax("cgst_sgst", 0, cut), computeCreditedTax("cgst_sgst", cut, total)];
    expect(parts.reduce((sum, part) => sum + part.taxable_minor, 0)).toBe(taxable_minor);
    for (const part of parts) for (const { amount_minor } of part.lines) expect(amount_minor).toBeGreaterThanOrEqual(0);
  }
});

test("the tax year turns on the first of April, midnight in India", () => {
  expect(taxYear(new Date("2027-03-31T18:29:59.999Z"))).toBe(2026);
  expect(taxYear(new Date("2027-03-31T18:30:00.000Z"))).toBe(2027);
  expect(taxYear(new Date("2026-12-31T23:00:00.000Z"))).toBe(2026);
});

test("a serial has sixteen characters, the most that the law allows", () => {
  const of = (tax_series: string, tax_year: number, tax_no: number) => serialText({ tax_series, tax_year, tax_no });
  expect([of("I", 2026, 1), of("TC", 2099, 1234567)]).toEqual(["I/26-27/00000001", "TC/99-00/1234567"]);
});
