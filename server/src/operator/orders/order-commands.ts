import { plural } from "@berth/contract";
import type { Config } from "../../config/config.ts";
import { unitWord } from "../../environments/leases/read-unit.ts";
import { formatAmount } from "../../payments/ledger/format-amount.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { printNewest } from "../print-page.ts";
import { type Columns, printJson, printRows, tableOf } from "../print-rows.ts";
import { readTime } from "../read-time.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { calculateRefund } from "./calculate-refund.ts";
import { findOrders, type OrderSummary, showOrder } from "./find-orders.ts";
import { readDisputes } from "./read-disputes.ts";
import { readRevenue } from "./read-revenue.ts";
import { receiptText, sendReceipt } from "./send-receipt.ts";

/** Orders, receipts, disputes and revenue. */
export const orderCommands: readonly Command[] = [
  {
    name: "orders find",
    args: ["TEXT"],
    options: { before: "ORDER", json: "" },
    about: "finds orders by an id of order, payment or environment, a receipt's number, a name or an owner's address",
    example: "orders find INV-8k2mq0x7v1c",
    run: find,
  },
  {
    name: "order",
    args: ["ORDER"],
    options: { json: "" },
    about: "shows an order with its timeline, as its owner sees it",
    example: "order order_Nw7Xb2kQz1",
    run: show,
  },
  {
    name: "orders resend",
    args: ["ORDER"],
    options: { reason: "TEXT" },
    about: "mails the receipt again",
    example: "orders resend order_Nw7Xb2kQz1 --reason 'It went to spam'",
    run: resend,
  },
  {
    name: "refunds calculate",
    args: ["ORDER"],
    options: { at: "TIME", json: "" },
    about: "says what a refund would give back now or at a time, and why; it changes nothing",
    example: "refunds calculate order_Nw7Xb2kQz1 --at 2026-12-01T09:00:00Z",
    run: calculate,
  },
  {
    name: "disputes",
    args: [],
    options: { all: "", json: "" },
    about: "lists open disputes by the day to respond, or with --all the closed ones too",
    example: "disputes",
    run: disputes,
  },
  {
    name: "revenue",
    args: ["FROM", "TO"],
    options: { csv: "", json: "" },
    about: "sums payments, refunds and lost disputes by day and currency, without the day TO",
    example: "revenue 2026-11-01 2026-12-01 --csv",
    run: revenue,
  },
];

type Args = readonly string[];

const ordersShown = 50;

const orderColumns = (unit: "GPU" | "slot"): Columns<OrderSummary> => ({
  order: ({ id }) => id,
  at: ({ created_at }) => created_at,
  status: ({ status }) => status,
  owner: ({ email, user_id }) => email ?? user_id,
  name: ({ subdomain }) => subdomain,
  bought: ({ container_type, gpu_count, duration_hours }) =>
    `${container_type}, ${plural(gpu_count, unit)}, ${duration_hours} h`,
  amount: ({ amount_minor, currency }) => formatAmount(amount_minor, currency),
  paid: ({ paid_minor, currency }) => (paid_minor > 0 ? formatAmount(paid_minor, currency) : null),
  refunded: ({ refund_minor, currency }) => (refund_minor > 0 ? formatAmount(refund_minor, currency) : null),
});

async function find(config: Config, [text = ""]: Args, options: Options): Promise<void> {
  const page = { limit: ordersShown + 1, before: options["before"] };
  const [rows, unit] = await withDatabase(config, async (db) => [await findOrders(db, text, page), await unitWord(db)]);
  printNewest(rows, orderColumns(unit), options, {
    ...{ none: "There is no such order", limit: ordersShown },
    more: ({ id }) => `--before ${id}`,
  });
}

async function show(config: Config, [id = ""]: Args, { json }: Options): Promise<void> {
  const order = await withDatabase(config, (db) => showOrder(db, id));
  if (json !== undefined) return void printJson(order);
  const { timeline, references, money, receipts, credit_notes, ...facts } = order;
  const rows = Object.entries({
    ...facts,
    ...references,
    receipts: receipts.join(" "),
    credit_notes: credit_notes.join(" "),
  });
  console.log(tableOf(rows, { fact: ([key]) => key, value: ([, value]) => (value === null ? null : String(value)) }));
  const events = timeline.map(({ kind, at, ...about }) => ({ kind, at, about: Object.values(about).join(" ") }));
  console.log(
    `\n${tableOf(events, { at: ({ at }) => at && new Date(at), event: ({ kind }) => kind, about: ({ about }) => about })}`,
  );
}

async function resend(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const number = await withDatabase(config, (db) => sendReceipt(db, announcerOf(config), id, authorOf(options)));
  console.log(receiptText(number, config.mail.smtp !== undefined));
}

async function calculate(config: Config, [id = ""]: Args, { at, json }: Options): Promise<void> {
  const result = await withDatabase(config, (db) =>
    calculateRefund(db, id, at === undefined ? undefined : readTime(at)),
  );
  if (json !== undefined) return void printJson(result);
  const { currency, paidMinor, refundedMinor, proratedMinor, fullMinor, totalSeconds, unusedSeconds, runs } = result;
  const money = (minor: number) => formatAmount(minor, currency);
  const hours = (seconds: number) => (seconds / 3600).toFixed(2);
  console.log(
    [
      `${result.orderId} was paid with ${money(paidMinor)}; ${money(refundedMinor)} of it went back before`,
      `  prorated ${money(proratedMinor)}: ${hours(unusedSeconds)} of ${hours(totalSeconds)} hours are not used`,
      `  full ${money(fullMinor)}: all that is left of the payment`,
      runs ? "Its clock runs: later it is less." : "Its clock stands still.",
    ].join("\n"),
  );
}

async function disputes(config: Config, _: Args, options: Options): Promise<void> {
  const rows = await withDatabase(config, (db) => readDisputes(db, options["all"] !== undefined));
  const columns: Columns<(typeof rows)[number]> = {
    dispute: ({ gateway_dispute_id }) => gateway_dispute_id,
    status: ({ status }) => status,
    phase: ({ phase }) => phase,
    amount: ({ amount_minor, currency }) => formatAmount(amount_minor, currency),
    order: ({ order_id }) => order_id,
    owner: ({ email, user_id }) => email ?? user_id,
    respond: ({ respond_by }) => respond_by,
  };
  printRows(rows, columns, options, "There is no dispute");
}

async function revenue(config: Config, [from = "", to = ""]: Args, options: Options): Promise<void> {
  const [first, end] = [readTime(from), readTime(to)];
  if (first >= end) return usage(`${from} is not before ${to}.`);
  const rows = await withDatabase(config, (db) => readRevenue(db, first, end));
  if (options["csv"] === undefined) {
    const money = (minor: number, currency: string) => (minor === 0 ? null : formatAmount(minor, currency));
    const columns: Columns<(typeof rows)[number]> = {
      day: ({ day }) => day,
      payments: ({ payments }) => payments,
      paid: ({ paid_minor, currency }) => money(paid_minor, currency),
      refunded: ({ refunded_minor, currency }) => money(refunded_minor, currency),
      disputed: ({ disputed_minor, currency }) => money(disputed_minor, currency),
    };
    return printRows(rows, columns, options, "No money moved");
  }
  const lines = rows.map((row) => Object.values(row).join(","));
  console.log(["day,currency,payments,paid_minor,refunded_minor,disputed_minor", ...lines].join("\n"));
}
