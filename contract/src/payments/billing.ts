import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  record,
  string,
} from "zod/mini";
import { endpoint, type ReplyOf } from "../endpoint.ts";
import { currency, file, instant, nothing, type Promised, payment, required } from "../wire.ts";

const invoice = object({
  number: string(),
  id: string(),
  /** For `GET /orders/{order_id}`. */
  order_id: string(),
  date: instant,
  amount: number(),
  currency,
  /** One of two texts (G17); `state` sets the badge's colour. */
  status: choice(["Paid", "Pending/Failed"]),
  state: choice(["paid", "pending", "failed", "refunded", "partially_refunded"]),
  description: string(),
  duration: string(),
  /** In `currency`; includes pending refunds. */
  refunded: number(),
  /** The provider's payment id, and the newest session that the payment bought or extended (G70). */
  payment_reference: string(),
  session_id: nullable(string()),
  /** Numbers of its credit notes, oldest first: one for each processed refund. */
  credit_notes: array(string()),
});

/** Names by G87; money in major units. Months are "2026-11", in UTC (G19). */
export const billing = endpoint({
  method: "GET",
  path: "/billing/{user_id}",
  auth: "bearer",
  summary: "Totals, six months, usage and the ten newest invoices (spec 3.4, G63)",
  body: nothing,
  reply: object({
    status: literal("success"),
    currentMonthUsage: number(),
    totalSpent: number(),
    paymentCount: number(),
    monthlyTotals: record(string(), number()),
    trend: object({ trend: choice(["up", "down"]), changePercent: number() }),
    /** `usage` is booked, `run` actually used (G32); both with one decimal. */
    usageBreakdown: array(
      object({ service: string(), usage: number(), run: number(), cost: number(), unit: literal("hours") }),
    ),
    invoices: array(invoice),
    recentPayments: array(payment),
    chartData: array(object({ month: string(), totalPaid: number(), paymentCount: number(), avgPayment: number() })),
  }),
  errors: ["not_found"],
});

type Billing = ReplyOf<typeof billing>;
type PromisedInvoice = Promised<
  Infer<typeof invoice>,
  "number" | "id" | "date" | "amount" | "status" | "description" | "duration"
>;

/** What spec 3.4 promises of it (G303). */
export interface PromisedBilling extends Omit<Billing, "status" | "usageBreakdown" | "invoices" | "trend"> {
  readonly trend?: Billing["trend"];
  readonly usageBreakdown: readonly Promised<Billing["usageBreakdown"][number], "service" | "usage" | "cost">[];
  readonly invoices: readonly PromisedInvoice[];
}

export const receipt = endpoint({
  method: "GET",
  path: "/billing/{user_id}/receipts/{number}.pdf",
  auth: "bearer",
  summary: "The receipt of a paid payment; `number` is its invoice number (G18, G86)",
  body: nothing,
  media: "application/pdf",
  reply: file,
  errors: ["not_found"],
});

export const paymentsCsv = endpoint({
  method: "GET",
  path: "/billing/{user_id}/payments.csv",
  auth: "bearer",
  summary:
    "Every payment of the account, its refunds and what banks took back, oldest first, as CSV: times in UTC, signed amounts in major units (G334)",
  body: nothing,
  media: "text/csv",
  reply: file,
  errors: [],
});

export const creditNote = endpoint({
  method: "GET",
  path: "/billing/{user_id}/credit-notes/{number}.pdf",
  auth: "bearer",
  summary: "The credit note of a processed refund; the invoice lists its `number`",
  body: nothing,
  media: "application/pdf",
  reply: file,
  errors: ["not_found"],
});

export const creditSources = ["undelivered", "operator", "voucher", "returned"] as const;

const credit = object({
  id: string(),
  /** Of which an environment with two GPUs uses two in an hour; hundredths at most. */
  gpu_hours: number(),
  /** `returned`: unused time of an environment that was refunded (G154). */
  source: choice(creditSources),
  /** Why it was given; may be empty. */
  note: string(),
  /** Starts an environment by itself, without a payment (G332). */
  alone: optional(boolean()),
  granted_at: instant,
});
export type Credit = Infer<typeof credit>;

export const credits = endpoint({
  method: "GET",
  path: "/credits",
  auth: "bearer",
  summary: "The open credits of the signed-in user; the next environment gets all of them (G107, G153)",
  body: nothing,
  reply: object({ status: literal("success"), credits: array(credit) }),
  errors: [],
});

export const redeemVoucher = endpoint({
  method: "POST",
  path: "/vouchers/redeem",
  auth: "bearer",
  summary: "Turns a voucher's code into a credit; the same code again returns the same credit (G155, G156)",
  body: object({ code: required(100) }),
  reply: object({ status: literal("success"), credit }),
  errors: ["not_found", "voucher_refused"],
});
