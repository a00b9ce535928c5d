import { expect, test } from "vitest";
import { documentPdf } from "./document-pdf.ts";
import type { Receipt } from "./read-receipt.ts";
import { receiptNotes, receiptSections } from "./receipt-sections.ts";
import { pdfLines } from "./testing/pdf-lines.ts";

const brand = { name: "Berth", email: "hello@berth.example" };
const plain: Receipt = {
  number: "INV-abcdefghijk",
  created_at: new Date("2026-11-20T14:51:00Z"),
  issued_at: new Date("2026-11-20T14:52:00Z"),
  customer_name: "Ada Park",
  customer_email: "ada@uni.example",
  gateway_payment_id: "pay_ABCDEFGHIJKLMN",
  amount_minor: 240,
  currency: "USD",
  refund_minor: 0,
  method: "card",
  card_network: "MasterCard",
  card_last4: "4444",
  container_type: "jupyter",
  gpu_count: 2,
  duration_hours: 6,
  subdomain: "first-lab",
  usd_minor: 240,
  inr_paise_per_usd: 8822,
  mode: "live",
  session_id: "abcdefghijklmnopqrstuvwxy",
  refunds: [],
  disputed_minor: 0,
  tax: null,
};
const receiptPdf = (receipt: Receipt, by: typeof brand) =>
  documentPdf(
    {
      title: `Receipt ${receipt.number}`,
      issuedAt: receipt.issued_at,
      sections: receiptSections(receipt),
      notes: receiptNotes(receipt),
    },
    by,
  );
const linesOf = async (change: Partial<Receipt> = {}) => pdfLines(await receiptPdf({ ...plain, ...change }, brand));
const pages = (pdf: Buffer) => pdf.toString("latin1").match(/\/Type \/Page\n/g)?.length;

test("a receipt has the purchase, the amount, the customer and the references (G7, G18, G70)", async () => {
  expect(await linesOf()).toEqual([
    ...["Berth", "hello@berth.example", "Receipt"],
    ...["Invoice number", "INV-abcdefghijk", "Ordered", "Nov 20, 2026, 2:51 PM", "Paid", "Nov 20, 2026, 2:52 PM"],
    ...["Customer", "Ada Park", "E-mail", "ada@uni.example"],
    ...["What was bought", "Item", "jupyter Environment", "Environment name", "first-lab"],
    ...["GPUs", "2", "Booked", "6 hours"],
    ...["Amount", "List price", "$2.40 USD", "Charged", "$2.40 USD"],
    ...["References", "Payment reference", "pay_ABCDEFGHIJKLMN", "Session ID", "abcdefghijklmnopqrstuvwxy"],
    ...["Paid with", "MasterCard ending in 4444"],
    ...["Pay once, nothing renews by itself.", "Times are UTC."],
  ]);
});

test("a receipt of a slot calls it so (G307)", async () => {
  const lines = await linesOf({ unit: "cpu" });
  expect(lines).not.toContain("GPUs");
  expect(lines[lines.indexOf("Slots") + 1]).toBe("2");
});

test("C49 rupees with their sign and the frozen rate, refunds with date and amount, and test mode (G7)", async () => {
  const lines = await linesOf({
    amount_minor: 10_586_400,
    currency: "INR",
    refund_minor: 10_586_400,
    inr_paise_per_usd: 8700,
    mode: "embedded",
    refunds: [
      {
        amount_minor: 86_400,
        status: "processed",
        created_at: new Date("2026-11-21T09:00:00Z"),
        processed_at: new Date("2026-11-22T23:59:59Z"),
        arn: "7433",
      },
      {
        amount_minor: 10_400_000,
        status: "sent",
        created_at: new Date("2026-11-23T00:00:00Z"),
        processed_at: null,
        arn: null,
      },
      {
        amount_minor: 100_000,
        status: "failed",
        created_at: new Date("2026-11-24T00:00:00Z"),
        processed_at: null,
        arn: null,
      },
    ],
  });
  const text = lines.join(" ");
  expect(text).toContain("Rate 1 USD = 87.00 INR, fixed with the order Charged ₹1,05,864 INR");
  expect(text).toMatch(/Refunded Nov 22, 2026, 11:59 PM, bank +reference 7433 -₹864 INR/);
  expect(text).toContain("Refund started Nov 23, 2026, 12:00 AM -₹1,04,000 INR");
  expect(text).toMatch(/Refund started Nov 24, 2026, 12:00 AM +\(delayed, asked for again\) -₹1,000 INR/);
  expect(text).toContain("After refunds ₹0 INR");
  expect(text).toContain("Paid in test mode: no money moved.");
});

test.each([
  ['<script>alert(1)</script> & "quotes" \\ (1) Tj ET', '<script>alert(1)</script> & "quotes" \\ (1) Tj ET'],
  ["Žluťoučký Нгуен Nguyễn e\u0301", "Žluťoučký Нгуен Nguyễn é"],
  ["Zoë 🚀👨‍👩‍👧 王", "Zoë ?? ?"],
  ["\u202eאבג\u202c Ben\u0000\n\tLee", "??? Ben Lee"],
  ["lone \ud800 half", "lone ? half"],
  ["Ada\u200b\ufeff Lee", "Ada Lee"],
])("C49 a name like %j stays a name", async (name, shown) => {
  expect(await linesOf({ customer_name: name })).toContain(shown);
});

test("a letter with ten thousand combining marks is one character that cannot be drawn", async () => {
  expect(await linesOf({ customer_name: `e${"\u0301".repeat(10_000)}` })).toContain("?...");
});

test("ten thousand letters without a space stay inside the page, with every figure", async () => {
  const pdf = await receiptPdf(
    { ...plain, customer_name: "W".repeat(10_000), customer_email: "w".repeat(10_000) },
    brand,
  );
  expect(pages(pdf)).toBe(2);
  const text = pdfLines(pdf);
  for (const line of text) expect(line.length).toBeLessThan(80);
  expect(text).toEqual(expect.arrayContaining(["$2.40 USD", "Pay once, nothing renews by itself."]));
  expect(text.filter((line) => /W\.\.\.$/i.test(line))).toHaveLength(2);
});

test("an ordinary receipt is one page, and the same bytes each time", async () => {
  const [first, second] = [await receiptPdf(plain, brand), await receiptPdf(plain, brand)];
  expect(pages(first)).toBe(1);
  expect(first.equals(second)).toBe(true);
});

test("a payment by UPI, a bank account or a wallet says what paid (G366)", async () => {
  const card = { card_network: null, card_last4: null };
  for (const [paid, text] of [
    [{ method: "upi", paid_from: "ad***@okaxis" }, "UPI, ad***@okaxis"],
    [{ method: "netbanking", paid_from: "HDFC" }, "Netbanking, HDFC"],
    [{ method: "wallet", paid_from: "mobikwik" }, "Wallet, mobikwik"],
    [{ method: "paylater" }, "paylater"],
  ] as const)
    expect(await linesOf({ ...card, ...paid })).toEqual(expect.arrayContaining(["Paid with", text]));
});

test("without name, session and card the receipt leaves them out", async () => {
  const lines = await linesOf({
    customer_name: "  ",
    session_id: null,
    method: "upi",
    card_last4: null,
    duration_hours: 1,
  });
  expect(lines).not.toContain("Customer");
  expect(lines).toEqual(expect.arrayContaining(["N/A", "UPI", "1 hour"]));
});
