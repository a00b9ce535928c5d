import { expect, test } from "vitest";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { testApp } from "../testing/test-app.ts";
import { pdfLines } from "./testing/pdf-lines.ts";

const gst = {
  TAX_GSTIN: "27AAPFU0939F1ZV",
  TAX_LEGAL_NAME: "Pier & Söhne <LLP>",
  TAX_ADDRESS: "1 Dock Road, Mumbai 400001",
};

/** A rental with a partial refund from the dashboard. */
async function setup(env: Record<string, string> = {}) {
  const app = await testApp(env);
  const stop = app.deliver();
  const ada = await app.signUp("Ada <script>alert(1)</script>");
  const made = await app.rent(ada, { subdomain: "ada-lab", gpu_count: 4, duration: 6 });
  await stop();
  const paymentId = made.payment_data.razorpay_payment_id;
  const { provider } = app.payments;
  await provider.refund({ paymentId, amountMinor: 118, key: "the-dashboard", notes: {} });
  await settlePayment(app.payments, await provider.payment(paymentId));
  const statement = await app.must("GET", `/billing/${ada.id}`, ada.token);
  const [invoice] = statement.invoices as { number: string; credit_notes: string[] }[];
  const read = (path: string, user = ada) => app.call("GET", `/billing/${user.id}/${path}.pdf`, user.token);
  return { ...app, ada, paymentId, invoice, number: invoice?.credit_notes[0] ?? "", read };
}

test("a refund that has gone back has a credit note, listed with its invoice and for its owner only", async () => {
  const { ada, invoice, number, paymentId, read, signUp, call } = await setup();
  expect(invoice?.credit_notes).toEqual([expect.stringMatching(/^CRN-[0-9a-z]{11}$/)]);
  const answer = await read(`credit-notes/${number}`);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "application/pdf",
    "content-disposition": `attachment; filename="${number}.pdf"`,
    "cache-control": "private, no-store",
  });
  const lines = pdfLines(answer.rawPayload);
  for (const said of [
    ...["Credit note", number, invoice?.number, "Ada <script>alert(1)</script>", ada.email],
    ...["ada-lab", "Refunded by hand", "$4.50 USD", "$1.18 USD", paymentId, "Paid in test mode: no money moved."],
  ])
    expect(lines).toContain(said);
  for (const never of ["GSTIN", "Taxable value", "Serial number"]) expect(lines).not.toContain(never);
  const ben = await signUp("Ben");
  const absent = await read("credit-notes/CRN-00000000000", ben);
  expect([absent.statusCode, absent.json().code]).toEqual([404, "not_found"]);
  for (const other of [number, number.toUpperCase(), "x", `${number}%00`, invoice?.number])
    expect((await read(`credit-notes/${other}`, ben)).body, other).toBe(absent.body);
  expect((await call("GET", `/billing/${ada.id}/credit-notes/${number}.pdf`)).statusCode).toBe(401);
  expect((await read(`credit-notes/${invoice?.number}`)).statusCode, "a receipt is none").toBe(404);
});

test("with a GSTIN the receipt is a tax invoice, and the note takes its share of the tax back", async () => {
  const { invoice, number, read } = await setup(gst);
  const paper = pdfLines((await read(`receipts/${invoice?.number}`)).rawPayload);
  expect(paper).toEqual(
    expect.arrayContaining([
      ...["Tax invoice", "Serial number", "Seller", "Pier & Söhne <LLP>", gst.TAX_ADDRESS, gst.TAX_GSTIN, "998315"],
      ...["Outside India (96)", "Taxable value", "$3.81 USD", "IGST 18%", "$0.69 USD", "$4.50 USD"],
      ...["Supply meant for export on payment of integrated tax.", "-$1.18 USD"],
    ]),
  );
  expect(paper.filter((line) => /^TI\/\d\d-\d\d\/0000001$/.test(line))).toHaveLength(1);
  const credit = pdfLines((await read(`credit-notes/${number}`)).rawPayload);
  expect(credit).toEqual(
    expect.arrayContaining(["Credit note", gst.TAX_GSTIN, "Taxable value", "$1.00 USD", "IGST 18%", "$0.18 USD"]),
  );
  expect(credit.filter((line) => /^TC\/\d\d-\d\d\/0000001$/.test(line))).toHaveLength(1);
});

test("in rupees: their sign, and both halves of the tax (C49)", async () => {
  const { db, invoice, number, read } = await setup(gst);
  const rupees = (amount: object) =>
    JSON.stringify({
      ...amount,
      currency: "INR",
      tax: {
        ...{ serial: "I/26-27/00000001", sac: "998315", place_of_supply: "Maharashtra (27)", endorsement: null },
        seller: { gstin: gst.TAX_GSTIN, legal_name: "Pier", address: "Mumbai" },
        taxable_minor: 1525,
        lines: [
          { label: "CGST 9%", amount_minor: 137 },
          { label: "SGST 9%", amount_minor: 138 },
        ],
      },
    });
  for (const table of ["receipts", "credit_notes"] as const) {
    const { document } = await db.selectFrom(table).select("document").executeTakeFirstOrThrow();
    await db
      .updateTable(table)
      .set({ document: rupees({ ...document, amount_minor: 1800, credited_minor: 1800 }) })
      .execute();
  }
  for (const path of [`receipts/${invoice?.number}`, `credit-notes/${number}`])
    expect(pdfLines((await read(path)).rawPayload)).toEqual(
      expect.arrayContaining([
        "Maharashtra (27)",
        "₹15.25 INR",
        "CGST 9%",
        "₹1.37 INR",
        "SGST 9%",
        "₹1.38 INR",
        "₹18 INR",
      ]),
    );
});

test("after a deletion of the account no document has a name", async () => {
  const { ada, db, must } = await setup(gst);
  await must("DELETE", `/profile/${ada.id}`, ada.token, { password: "good password 1" });
  for (const table of ["receipts", "credit_notes"] as const) {
    const { document } = await db.selectFrom(table).select("document").executeTakeFirstOrThrow();
    expect(document).toMatchObject({ customer_name: "", customer_email: "", gateway_payment_id: expect.any(String) });
    expect(JSON.stringify(document)).not.toContain("Ada");
  }
});
