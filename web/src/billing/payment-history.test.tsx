import { MantineProvider } from "@mantine/core";
import { renderToString } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import { PaymentHistory } from "./payment-history.tsx";
import type { Invoice } from "./statement.ts";

test("a declined attempt has no number that reads like a debt, one that the bank still checks keeps it (G17, G335)", () => {
  const attempt: Invoice = {
    ...{ number: "INV-6w35ttlcgxg", id: "6w35ttlcgxg", order_id: "o1", date: "2026-11-20T10:00:00.000Z" },
    ...{ amount: 0.4, currency: "USD", status: "Pending/Failed", state: "failed", description: "jupyter Environment" },
    ...{ duration: "1 hour", refunded: 0, payment_reference: "pay_declined", session_id: null, credit_notes: [] },
  };
  const drawn = (state: Invoice["state"]) =>
    renderToString(
      <MantineProvider>
        <MemoryRouter>
          <PaymentHistory userId="ada" invoices={[{ ...attempt, state }]} />
        </MemoryRouter>
      </MantineProvider>,
    );
  expect(drawn("failed")).not.toContain("INV-");
  for (const text of ["No invoice", "Nothing was charged", "details of the attempt pay_declined"])
    expect(drawn("failed")).toContain(text);
  expect(drawn("pending")).toContain("INV-6w35ttlcgxg");
});
