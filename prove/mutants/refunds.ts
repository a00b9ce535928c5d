// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

import type { FaultsOf } from "./mutants-of.ts";

/** What goes back, and the books about it. */
export const refundFaults: readonly FaultsOf[] = [
  {
    file: "payments/settlement/delivery.ts",
    tests: [
      "payments/orders/confirm-payment",
      "payments/refunds/refund-sender",
      "payments/settlement/settle-payment",
      "payments/ledger/journal",
      "payments/settlement/lost-machine",
      "payments/orders/place-extension",
    ],
    rows: [
      ["whoever comes second wins too", '    .where("status", "=", "paid")\n', "", "cancelled while pending"],
      [
        "answer and give-up do not take turns",
        '    .where("status", "=", "paid")\n    .forUpdate()\n',
        '    .where("status", "=", "paid")\n',
        "cancelled while pending",
      ],
      ["late is what came in time", "now() > deliver_by", "now() < deliver_by", "later than ten"],
      ["late deliveries get nothing", "(order.late ? bonusHours : 0) + ", "", "later than ten"],
      ["one credit serves two deliveries at once", " for update skip locked", "", "C40"],
      ["a credit never runs out", " and used_by_order is null for update", " for update", "later than ten"],
      [
        "a credit for whoever cancels",
        'if (reason === "not_delivered") await grantCredit',
        "await grantCredit",
        "cancelled while pending",
      ],
      [
        "a second refund of what went back outside",
        "if (payment.refund_minor === payment.amount_minor)",
        "if (!payment)",
        "C35",
      ],
      ["what was not used is earned and kept", "if (unusedSeconds > 0)", "if (unusedSeconds < 0)", "fails for ten"],
      [
        "a session that is over is not earned",
        "    await bookRemainingRevenue(tx, order.id);\n",
        "",
        "a rental to its end",
      ],
      [
        "hours bought later are not paid back",
        'where.or([where("id", "=", orderId), where("extends", "=", id)])',
        'where.or([where("id", "=", orderId)])',
        "bought later",
      ],
      ["what was not delivered counts in billing", "usd_net_minor = 0, hours = 0", "hours = 0", "C38"],
    ],
  },
  {
    file: "payments/refunds/create-refund.ts",
    tests: ["payments/settlement/settle-payment", "payments/refunds/refund-sender"],
    rows: [
      [
        "more than is left goes back",
        "Math.min(mostMinor, payment.amount_minor - payment.refund_minor)",
        "mostMinor",
        "refunded in the dashboard before",
      ],
      [
        "what is on its way back is not counted",
        "set({ refund_minor: payment.refund_minor + amount_minor })",
        "set({ refund_minor: payment.refund_minor })",
        "C29",
      ],
    ],
  },
  {
    file: "payments/refunds/refund-sender.ts",
    tests: ["payments/refunds/refund-sender", "payments/ledger/journal", "payments/settlement/lost-machine"],
    rows: [
      [
        "a refund is recorded before its order is locked",
        "await lockPayment(tx, refund.payment_id)",
        'await tx.selectFrom("payments").selectAll().where("id", "=", refund.payment_id).executeTakeFirstOrThrow()',
        "holds the payment",
      ],
      [
        "refunds of other keys are sent",
        " and o.gateway = ${provider.kind} and o.mode = ${provider.mode})`",
        ")`",
        "other keys",
      ],
      [
        "every try has an idempotency key of its own",
        "amountMinor, key, notes: { reason }",
        "amountMinor, key: crypto.randomUUID(), notes: { reason }",
        "sent once",
      ],
      [
        "refused for good, nobody looks whether it exists",
        "const found = await findAtProvider(deps, refund);",
        "const found = undefined as ProviderRefund | undefined;",
        "C36",
      ],
      [
        "a part that a person sent stands for what we owe",
        "ours.some(({ refund_minor }) => sentMinor < refund_minor - disputed)",
        "false",
        "a part sent back",
      ],
      ["a failed refund adds to what went back", "-refund.amount_minor", "refund.amount_minor", "refund that fails"],
      [
        "a refund that arrives after all is not owed again",
        'if (refund.status === "failed") {',
        "if (!payment) {",
        "refund that fails",
      ],
      [
        "refused for good, it is tried every second",
        "const isRefused = error instanceof ProviderError && !error.retryable;",
        "const isRefused = error instanceof ProviderError && error.retryable;",
        "refuses for good",
      ],
      [
        "arrived, and the order stays open",
        "if (payment.settles_order) await closeRefundedOrder",
        "if (!payment.settles_order) await closeRefundedOrder",
        "sent once",
      ],
      ["the bank's reference is dropped", "      arn: found.arn,\n", "", "sent once"],
    ],
  },
  {
    file: "payments/refunds/request-refund.ts",
    tests: ["payments/refunds/request-refund"],
    rows: [["another's order can be asked about", "order.user_id !== userId", "false"]],
  },
  {
    file: "payments/refunds/grant-refund.ts",
    tests: ["payments/refunds/request-refund"],
    rows: [
      ["more goes back than was left", "amountMinor < 1 || amountMinor > left", "amountMinor < 1"],
      ["granted twice pays twice", "if (before) return", "if (false) return", "an amount leaves"],
      ["a preview stays done", "await tx.rollback().execute();", "await tx.commit().execute();", "nobody has asked"],
      ["paid back whole, it goes on", "return await takeBackHours(tx, order);", "return undefined;"],
    ],
  },
  {
    file: "payments/refunds/take-back-hours.ts",
    tests: ["payments/refunds/take-back-hours", "payments/disputes/record-dispute"],
    rows: [
      ["hours that were given with an order stay", "order, order.hours);", "order, 1);", "credit"],
      [
        "what went back before is paid back again",
        "payment.amount_minor - payment.refund_minor",
        "payment.amount_minor",
      ],
      [
        "a bank's part of the price is all that goes back",
        '  await refundUnused(tx, payment, usage, "discretionary", announce);\n',
        "",
        "in part",
      ],
    ],
  },
  {
    file: "environments/time/extend.ts",
    tests: ["payments/refunds/take-back-hours"],
    rows: [
      ["banked time that is paid back stays", "greatest(0, banked_seconds - ", "greatest(banked_seconds, ", "stopped"],
      [
        "with no paid time left it stays",
        "const ends = before.created_at === null || after.left < nothingSeconds;",
        "const ends = before.never;",
        "no paid time",
      ],
    ],
  },
  {
    file: "payments/refunds/usage-of-order.ts",
    tests: ["payments/refunds/request-refund", "operator/refund-requests"],
    rows: [["a share is rounded up", "Math.floor(", "Math.ceil("]],
  },
  {
    file: "payments/disputes/record-dispute.ts",
    tests: ["payments/disputes/record-dispute"],
    rows: [
      ["what is decided is told again as open", "if (risen < 0) return", "if (false) return"],
      ["a lost dispute is booked each time it is told", "if (risen === 0) return", "if (false) return"],
      ["more is counted than was left", "Math.min(lost, payment.amount_minor - payment.refund_minor)", "lost"],
      ["what the bank took is not booked", "await bookDisputeLost(tx, payment, { id, amount_minor: lost });", ""],
    ],
  },
  {
    file: "payments/refunds/waive-refund.ts",
    tests: ["payments/refunds/refund-sender", "payments/disputes/record-dispute"],
    rows: [
      ["a part paid back ends a rental that was delivered", " and status = 'refunding'", "", "fails for ten minutes"],
      ["a refund is sent while a dispute is open", 'statuses.has("open") || statuses.has("under_review")', "false"],
      ["a refund is sent though a bank has taken the money", 'statuses.has("lost") ? "lost" : "none"', '"none"'],
    ],
  },
  {
    file: "payments/orders/reserve-order.ts",
    tests: ["payments/disputes/record-dispute"],
    rows: [
      [
        "a held account orders on",
        '.where("lifted_at", "is", null).executeTakeFirst())',
        '.where("lifted_at", "is not", null).executeTakeFirst())',
      ],
    ],
  },
  {
    file: "payments/ledger/journal.ts",
    tests: ["payments/ledger/journal", "payments/settlement/settle-payment"],
    rows: [
      [
        "arrived refunds stay owed",
        'kind: "refund_arrived", debit: "refunds_payable", credit: "gateway"',
        'kind: "refund_arrived", debit: "prepaid", credit: "gateway"',
        "owed back when",
      ],
      ["a fee is income", 'debit: "fees", credit: "gateway"', 'debit: "gateway", credit: "fees"', "a fee"],
      ["owed again is the same entry", "before === 0 ? entry", "before >= 0 ? entry", "refund that fails"],
      [
        "a surplus comes out of what the first payment earned",
        '  if (!settles_order) return "prepaid";\n',
        "",
        "surplus",
      ],
      [
        "a session's end is booked the wrong way round",
        'debit: "prepaid",\n      credit: "revenue"',
        'debit: "revenue",\n      credit: "prepaid"',
        "a rental to its end",
      ],
    ],
  },
  {
    file: "payments/ledger/update-net-revenue.ts",
    tests: [
      "payments/ledger/update-net-revenue",
      "payments/settlement/settle-payment",
      "billing/read-billing",
      "payments/settlement/lost-machine",
    ],
    rows: [
      ["what goes back adds to what billing counts", "o.usd_minor - round(", "o.usd_minor + round("],
      [
        "a smaller part later counts anew",
        "least(o.usd_net_minor,\n      greatest(0,",
        "(\n      greatest(0,",
        "falls",
      ],
    ],
  },
  {
    file: "payments/ledger/invariants.ts",
    tests: ["payments/ledger/journal"],
    rows: [
      [
        "only what was never booked is found",
        "(p.status = 'captured') <> (j.id is not null)",
        "p.status <> 'captured' and j.id is not null",
        "each invariant",
      ],
      [
        "a surplus that is kept is not found",
        "p.status = 'captured' and not p.settles_order and",
        "p.status = 'authorized' and not p.settles_order and",
        "each invariant",
      ],
      [
        "a credit that is missing is not found",
        "r.reason = 'not_delivered' and not",
        "r.reason = 'never' and not",
        "each invariant",
      ],
    ],
  },
  {
    file: "payments/ledger/tax.ts",
    tests: ["payments/ledger/tax", "billing/credit-notes"],
    rows: [["the tax year turns at midnight UTC", "const indiaMs = 5.5 * 3_600_000;", "const indiaMs = 0;"]],
  },
];
