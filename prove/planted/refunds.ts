// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

import type { FaultsOf } from "./faults-of.ts";

/** What goes back, and the books about it. */
export const refundFaults: readonly FaultsOf[] = [
  {
    file: "payments/delivery.ts",
    tests: [
      "payments/create-environment",
      "payments/refunds",
      "payments/settle",
      "payments/ledger",
      "payments/lost-machine",
      "payments/extensions",
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
        'if (reason === "not_delivered") await giveCredit',
        "await giveCredit",
        "cancelled while pending",
      ],
      [
        "a second refund of what went back outside",
        "if (payment.refund_minor === payment.amount_minor) return await closeRefunded(tx, orderId);",
        "",
        "C35",
      ],
      ["proration rounds up", "Math.floor(payment.amount_minor", "Math.ceil(payment.amount_minor", "rounded down"],
      [
        "what was not used is earned and kept",
        "if (unpaidSeconds > 0) await payBack",
        "if (unpaidSeconds < 0) await payBack",
        "fails for ten",
      ],
      [
        "a session that is over is not earned",
        "        await bookSessionOver(tx, order.id);\n",
        "",
        "a rental to its end",
      ],
      [
        "hours bought later are not paid back",
        'where.or([where("id", "=", orderId), where("extends", "=", id)])',
        'where.or([where("id", "=", orderId)])',
        "bought later",
      ],
      ["what was not delivered counts in billing", "usd_net_minor: 0, hours: 0", "hours: 0", "C38"],
    ],
  },
  {
    file: "payments/ask-refund.ts",
    tests: ["payments/settle", "payments/refunds"],
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
    file: "payments/refunds.ts",
    tests: ["payments/refunds", "payments/ledger", "payments/lost-machine"],
    rows: [
      [
        "a refund is recorded before its order is locked",
        "await lockPayment(tx, refund.payment_id)",
        'await tx.selectFrom("payments").selectAll().where("id", "=", refund.payment_id).executeTakeFirstOrThrow()',
        "holds the payment",
      ],
      [
        "refunds of other keys are sent",
        "        and orders.gateway = ${provider.kind} and orders.mode = ${provider.mode}\n      order by",
        "      order by",
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
        "const found = await findMade(payments, refund);",
        "const found = undefined as GatewayRefund | undefined;",
        "C36",
      ],
      [
        "a part that a person sent stands for what we owe",
        "ours.some(({ refund_minor }) => sentMinor < refund_minor - disputed)",
        "false",
        "a part sent back",
      ],
      [
        "a failed refund adds to what went back",
        "refund_minor = refund_minor - ",
        "refund_minor = refund_minor + ",
        "refund that fails",
      ],
      [
        "a refund that arrives after all is not owed again",
        'if (refund.status === "failed") await oweAgain(tx, payment, refund);',
        "",
        "refund that fails",
      ],
      [
        "refused for good, it is tried every second",
        "error instanceof GatewayError && !error.retryable\n            ?",
        "error instanceof GatewayError && error.retryable\n            ?",
        "refuses for good",
      ],
      [
        "a part paid back ends a rental that was delivered",
        '    .where("status", "=", "refunding")\n',
        "",
        "fails for ten minutes",
      ],
      [
        "arrived, and the order stays open",
        "if (payment.settles_order) await closeOrder",
        "if (!payment.settles_order) await closeOrder",
        "sent once",
      ],
      ["the bank's reference is dropped", "        arn: found.arn,\n", "", "sent once"],
    ],
  },
  {
    file: "payments/refund-requests.ts",
    tests: ["payments/refund-requests"],
    rows: [["another's order can be asked about", "order.user_id !== userId", "false"]],
  },
  {
    file: "payments/decide-refund.ts",
    tests: ["payments/refund-requests"],
    rows: [
      ["more goes back than was left", "amountMinor < 1 || amountMinor > left", "amountMinor < 1"],
      [
        "granted twice pays twice",
        'if (request.status === "granted") return',
        'if (request.status === "declined") return',
      ],
      ["paid back whole, it goes on", "await endBought(tx, order);", "void order;"],
    ],
  },
  {
    file: "payments/usage-of-order.ts",
    tests: ["payments/refund-requests", "operator/refunds"],
    rows: [["a share is rounded up", "Math.floor(", "Math.ceil("]],
  },
  {
    file: "payments/disputes.ts",
    tests: ["payments/disputes"],
    rows: [
      ["what is decided is told again as open", "if (risen < 0) return", "if (false) return"],
      ["a lost dispute is booked each time it is told", "if (risen === 0) return", "if (false) return"],
      ["more is counted than was left", "Math.min(lost, payment.amount_minor - payment.refund_minor)", "lost"],
      ["what the bank took is not booked", "await bookDisputeLost(tx, payment, { id, amount_minor: lost });", ""],
    ],
  },
  {
    file: "payments/disputed-refunds.ts",
    tests: ["payments/disputes"],
    rows: [
      ["a refund is sent while a dispute is open", 'statuses.has("open") || statuses.has("under_review")', "false"],
      ["a refund is sent though a bank has taken the money", 'statuses.has("lost") ? "lost" : "none"', '"none"'],
    ],
  },
  {
    file: "payments/account-holds.ts",
    tests: ["payments/disputes"],
    rows: [
      [
        "a held account orders on",
        '.where("lifted_at", "is", null).executeTakeFirst())',
        '.where("lifted_at", "is not", null).executeTakeFirst())',
      ],
    ],
  },
  {
    file: "payments/ledger.ts",
    tests: ["payments/ledger", "payments/settle"],
    rows: [
      [
        "arrived refunds stay owed",
        'kind: "refund_arrived", debit: "refunds_payable", credit: "gateway"',
        'kind: "refund_arrived", debit: "prepaid", credit: "gateway"',
        "owed back when",
      ],
      ["a fee is income", 'debit: "fees", credit: "gateway"', 'debit: "gateway", credit: "fees"', "a fee"],
      [
        "owed again is the same entry",
        "const sourceId = again ? `${refund.id}:again` : refund.id;",
        "const sourceId = refund.id;",
        "refund that fails",
      ],
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
    file: "payments/lower-net.ts",
    tests: ["payments/lower-net", "payments/settle", "billing/read", "payments/lost-machine"],
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
    file: "payments/invariants.ts",
    tests: ["payments/ledger"],
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
    file: "payments/tax.ts",
    tests: ["payments/tax", "billing/credit-notes"],
    rows: [["the tax year turns at midnight UTC", "const indiaMs = 5.5 * 3_600_000;", "const indiaMs = 0;"]],
  },
];
