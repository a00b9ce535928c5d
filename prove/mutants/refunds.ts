// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** Refunds and disputes. */
export const refundMutants: readonly FaultsOf[] = [
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
      ["the second of two races wins too", '    .where("status", "=", "paid")\n', "", "cancelled while pending"],
      [
        "delivery and giving up do not lock the order",
        '    .where("status", "=", "paid")\n    .forUpdate()\n',
        '    .where("status", "=", "paid")\n',
        "cancelled while pending",
      ],
      ["a delivery in time counts as late", "now() > deliver_by", "now() < deliver_by", "later than ten"],
      ["late deliveries get no bonus", "late + hoursOfCredit", "hoursOfCredit", "later than ten"],
      ["one credit serves two deliveries at once", " for update skip locked", "", "C40"],
      ["a credit never expires", " and used_by_order is null for update", " for update", "later than ten"],
      [
        "a cancellation earns a credit",
        'if (reason === "not_delivered") await grantCredit',
        "await grantCredit",
        "cancelled while pending",
      ],
      [
        "an externally refunded payment is refunded again",
        "if (payment.refund_minor === payment.amount_minor)",
        "if (!payment)",
        "C35",
      ],
      [
        "unused time is earned instead of refunded",
        "if (unusedSeconds > 0)",
        "if (unusedSeconds < 0)",
        "fails for ten",
      ],
      [
        "an ended session is not booked as revenue",
        "    await bookRemainingRevenue(tx, order.id);\n",
        "",
        "a rental to its end",
      ],
      [
        "extensions are not refunded",
        'where.or([where("id", "=", orderId), where("extends", "=", id)])',
        'where.or([where("id", "=", orderId)])',
        "bought later",
      ],
      ["an undelivered order counts in billing", "usd_net_minor = 0, hours = 0", "hours = 0", "C38"],
    ],
  },
  {
    file: "payments/refunds/create-refund.ts",
    tests: ["payments/settlement/settle-payment", "payments/refunds/refund-sender"],
    rows: [
      [
        "more than the rest is refunded",
        "Math.min(mostMinor, payment.amount_minor - payment.refund_minor)",
        "mostMinor",
        "refunded in the dashboard before",
      ],
      [
        "pending refunds are not counted",
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
        "locks its order",
      ],
      [
        "refunds of other keys are sent",
        " and o.gateway = ${provider.kind} and o.mode = ${provider.mode})`",
        ")`",
        "other keys",
      ],
      [
        "each attempt has its own idempotency key",
        "amountMinor, key, notes: { reason }",
        "amountMinor, key: crypto.randomUUID(), notes: { reason }",
        "sent once",
      ],
      [
        "after a final refusal an existing refund is not looked up",
        "const found = await findAtProvider(deps, refund);",
        "const found = undefined as ProviderRefund | undefined;",
        "C36",
      ],
      [
        "a partial external refund counts as ours",
        "ours.some(({ refund_minor }) => sentMinor < refund_minor - disputed)",
        "false",
        "a partial refund",
      ],
      [
        "a failed refund increases the refunded sum",
        "-refund.amount_minor",
        "refund.amount_minor",
        "a failed refund is prepaid",
      ],
      [
        "a failed refund that is processed later is not booked",
        'if (refund.status === "failed") {',
        "if (!payment) {",
        "a failed refund is prepaid",
      ],
      [
        "a final refusal is retried every second",
        "const isRefused = error instanceof ProviderError && !error.retryable;",
        "const isRefused = error instanceof ProviderError && error.retryable;",
        "refuses for good",
      ],
      [
        "a processed refund leaves the order open",
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
      ["more than the rest is refunded by an operator", "amountMinor < 1 || amountMinor > left", "amountMinor < 1"],
      ["a repeated grant refunds twice", "if (before) return", "if (false) return", "an amount leaves"],
      ["a preview is committed", "await tx.rollback().execute();", "await tx.commit().execute();", "without a request"],
      ["a full refund does not end the rental", "return await takeBackHours(tx, order);", "return undefined;"],
    ],
  },
  {
    file: "payments/refunds/grant-refund.ts",
    tests: ["operator/console/order-routes"],
    rows: [["a second click refunds again", "refundedMinor === refund_minor) return;", "true) return;", "G146"]],
  },
  {
    file: "payments/refunds/take-back-hours.ts",
    tests: ["payments/refunds/take-back-hours", "payments/disputes/record-dispute"],
    rows: [
      ["bonus hours of a refunded order stay", "order, order.hours);", "order, 1);", "credit"],
      ["an earlier refund is refunded again", "payment.amount_minor - payment.refund_minor", "payment.amount_minor"],
      [
        "after a partial dispute only that part is refunded",
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
      ["refunded banked time stays", "greatest(0, banked_seconds - ", "greatest(banked_seconds, ", "stopped"],
      [
        "an environment without paid time does not end",
        "const ends = before.created_at === null || after.left < nothingSeconds;",
        "const ends = before.never;",
        "no paid time",
      ],
    ],
  },
  {
    file: "payments/refunds/usage-of-order.ts",
    tests: ["payments/refunds/request-refund", "operator/orders/refund-requests"],
    rows: [["a share is rounded up", "Math.floor(", "Math.ceil("]],
  },
  {
    file: "payments/disputes/record-dispute.ts",
    tests: ["payments/disputes/record-dispute"],
    rows: [
      ["a decided dispute is reopened", "if (progress < 0) return", "if (false) return"],
      ["a lost dispute is booked at each report", "if (progress === 0) return", "if (false) return"],
      ["more than the rest is counted", "Math.min(lost, payment.amount_minor - payment.refund_minor)", "lost"],
      ["a lost dispute is not booked", "await bookDisputeLost(tx, payment, { id, amount_minor: lost });", ""],
    ],
  },
  {
    file: "payments/refunds/waive-refund.ts",
    tests: ["payments/refunds/refund-sender", "payments/disputes/record-dispute"],
    rows: [
      ["a partial refund ends a delivered rental", " and status = 'refunding'", "", "fails for ten minutes"],
      ["a refund is sent while a dispute is open", 'statuses.has("open") || statuses.has("under_review")', "false"],
      ["a refund is sent though a bank has taken the money", 'statuses.has("lost") ? "lost" : "none"', '"none"'],
    ],
  },
  {
    file: "payments/disputes/account-hold.ts",
    tests: ["payments/disputes/record-dispute"],
    rows: [
      [
        "a held account can order",
        "account_holds where user_id = ${userId} and lifted_at is null",
        "account_holds where user_id = ${userId} and lifted_at is not null",
      ],
    ],
  },
];
