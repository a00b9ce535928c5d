// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** Orders, from the request to the delivery. */
export const orderMutants: readonly FaultsOf[] = [
  {
    file: "payments/orders/price-request.ts",
    tests: ["payments/orders/place-order", "payments/orders/confirm-payment"],
    rows: [
      ["the browser's price is accepted", "minorOf(amount) !== amountMinor", "false", "C1-C4"],
      ["the minimum amount is refused", "amountMinor < least", "amountMinor <= least", "C7"],
      [
        "one of three user ids is not checked",
        "[container.user_id, payment.user_id, payment.container_request.user_id]",
        "[container.user_id, payment.user_id]",
        "C5",
      ],
      [
        "the two requests may differ",
        "requestHash(container, currency, 0) !== requestHash(payment.container_request, currency, 0)",
        "false",
        "C5",
      ],
      [
        "the duration is not part of the request",
        "subdomain, gpu_count, duration, currency",
        "subdomain, gpu_count, currency",
        "G6",
      ],
    ],
  },
  {
    file: "payments/orders/reserve-order.ts",
    tests: ["payments/orders/place-order", "payments/orders/reserve-order"],
    rows: [
      ["GPUs of ended environments count", " and l.released_at is null and e.user_id", " and e.user_id", "C41"],
      ["one more order per minute", "orders >= ordersPerMinute", "orders > ordersPerMinute", "C41"],
      [
        "the last GPU of the quota is refused",
        "gpus + gpuCount <= caps.gpusPerUser",
        "gpus + gpuCount < caps.gpusPerUser",
        "C41",
      ],
      ["other users' launches count", "user_id = ${userId} and status = 'pending'", "status = 'pending'", "C41"],
      [
        "one host without a type stops its sale",
        'hosts.some(({ state }) => state !== "unavailable")',
        'hosts.every(({ state }) => state !== "unavailable")',
        "nothing can run",
      ],
      ["a draft has no lease", "      ...newLease(orderQueue),\n", "", "C9"],
      ["an extension holds GPUs", "  if (draft.extends) return draft as Draft;\n", "", "hours are added"],
      ["polled for five hours instead of days", "pollDays * 24 * 60", "pollDays * 60", "an order returns"],
    ],
  },
  {
    file: "payments/orders/place-order.ts",
    tests: ["payments/orders/place-order", "payments/orders/lost-response"],
    rows: [
      ["a different request returns the old order", "order.request_hash === request.hash && ", "", "supersedes"],
      ["an expired order is returned again", " && order.hold_until > new Date()", "", "request after the hold"],
      ["a double click fails", 'isUniqueViolation(error, "one_unpaid_order_per_user")', "false", "C9"],
      [
        "a parallel request returns the other's order",
        'order.status === "open" && isSameRequest(deps, order, request)',
        'order.status === "open"',
        "at the same moment",
      ],
      ["a retry does not look up the first order", "draft.attempts > 1 ? await", "false ? await", "C12 both"],
      ["a lost reply is not looked up", "unknown ? await", "false ? await", "C12 the response"],
      [
        "an order of another amount is accepted as ours",
        "made.amountMinor !== draft.amount_minor",
        "false",
        "late caller",
      ],
      ["an expired draft keeps its hold", "isDraft)) await releaseHold(tx, draft.id);", "isDraft)) return;", "C13"],
      [
        "an unavailable provider ends the draft",
        "error instanceof ProviderError && !error.retryable) await expireDraft",
        "error instanceof ProviderError && error.retryable) await expireDraft",
        "C12 both",
      ],
    ],
  },
  {
    file: "payments/orders/end-unpaid-order.ts",
    tests: ["payments/orders/place-order", "payments/orders/order-poller", "payments/orders/late-capture"],
    rows: [
      [
        "anybody may clear an order",
        '    .where("gateway_order_id", "=", gatewayOrderId)\n    .where("user_id", "=", userId)\n',
        '    .where("gateway_order_id", "=", gatewayOrderId)\n',
        "C42",
      ],
      [
        "dismissed without asking for payments in flight",
        "isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order))) return false;",
        "false) return false;",
        "C33",
      ],
      [
        "superseded without asking for payments in flight",
        "  if (isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order)))\n    throw",
        "  if (false)\n    throw",
        "in flight another",
      ],
    ],
  },
  {
    file: "payments/disputes/end-unpaid-orders.ts",
    tests: ["payments/orders/place-order", "payments/settlement/late-payment"],
    rows: [
      ["an order paid meanwhile is ended", '    .where("status", "=", from)\n', "", "paid meanwhile"],
      ["an ended order keeps its hold", "  await releaseHold(tx, id);\n", "", "supersedes"],
    ],
  },
  {
    file: "payments/settlement/deadlines.ts",
    tests: ["payments/orders/order-poller", "payments/orders/late-capture"],
    rows: [
      [
        "owed refunds are not polled after four days",
        'if (status === "paid" || status === "refunding") return',
        "if (false) return",
        "polls come",
      ],
      [
        "the end of a hold is not polled",
        '  if (status === "open") times.push(holdEnd({ hold_until }).getTime());\n',
        "",
        "polls come",
      ],
      ["the last poll is missing", "return now < watch_until ? watch_until : null;", "return null;", "polls come"],
    ],
  },
  {
    file: "payments/orders/wait-until.ts",
    tests: ["payments/orders/wait-until"],
    rows: [
      [
        "another user's change ends the wait",
        "({ user }) => user === userId && onChange()",
        "() => onChange()",
        "no other",
      ],
      ["a notification during the poll is lost", "      if (changed) continue;\n", "", "during a read"],
    ],
  },
  {
    file: "payments/settlement/settle-payment.ts",
    tests: [
      "payments/settlement/settle-payment",
      "payments/orders/order-poller",
      "payments/orders/late-capture",
      "payments/orders/confirm-payment",
    ],
    rows: [
      ["concurrent reports do not lock the order", "    .forUpdate()\n", "", "C18"],
      ["a payment moves to another order", "before.order_id !== order.id", "false", "another order's"],
      ["failed has precedence over authorized", "failed: 1, authorized: 2", "failed: 2, authorized: 1", "C32"],
      ["a payment moves backwards too", "rank[payment.status] <= before.rank", "false", "C32"],
      [
        "an authorization is booked as a capture",
        'if (recorded.status === "captured") await',
        "await",
        "changes neither order",
      ],
      [
        "a repeated report makes the settling payment a duplicate",
        ' || before?.status === "captured") return',
        ") return",
        "C18",
      ],
      [
        "a second payment of a delivered order delivers again",
        "if (order.paid_at) {",
        'if (order.status === "paid") {',
        "C34",
      ],
      [
        "an externally refunded payment is delivered",
        "payment.refund_minor > 0)",
        "payment.refund_minor === payment.amount_minor)",
        "refunded in the dashboard before",
      ],
      [
        "an excess amount is kept",
        "payment.amount_minor !== order.amount_minor",
        "payment.amount_minor < order.amount_minor",
        "C29",
      ],
      ["any currency is accepted", " || payment.currency !== order.currency", "", "C29"],
      [
        "a launch that takes half of its stock keeps it",
        "await sql`rollback to savepoint stock`.execute(tx);",
        "",
        "nothing stays held",
      ],
      ["an undelivered payment keeps its hold", "  await releaseHold(tx, order.id);\n", "", "C29"],
      ["a concurrent poll overwrites the settled order", "      ...noLease,\n", "", "late worker"],
      [
        "deliver_by is a minute after the payment",
        "deliver_by: minutesAfter(order.now, deliverMinutes)",
        "deliver_by: minutesAfter(order.now, 1)",
        "C18",
      ],
      ["the give-up time is in minutes", "giveUpAfterSeconds / 60", "giveUpAfterSeconds", "C38"],
    ],
  },
  {
    file: "payments/refunds/record-external-refund.ts",
    tests: [
      "payments/settlement/settle-payment",
      "payments/orders/order-poller",
      "payments/orders/late-capture",
      "payments/orders/confirm-payment",
    ],
    rows: [
      [
        "a refund in the dashboard does not end the environment",
        "await takeBackHours(tx, order);",
        "undefined;",
        "C35",
      ],
      ["a refund in the dashboard is booked again each time", " - (payment.refund_minor - disputed);", ";", "C35"],
      [
        "a failed refund resolved by a person leaves its order open",
        'if (status === "fulfilled" || status === "refunding")',
        'if (status === "fulfilled")',
        "failed refund",
      ],
    ],
  },
  {
    file: "payments/orders/confirm-payment.ts",
    tests: ["payments/orders/confirm-payment"],
    rows: [
      ["another user's body is accepted", "container.user_id !== userId", "false", "C26"],
      [
        "an environment other than ordered is accepted",
        "requestHash(container, order.currency, order.amount_minor) !== order.request_hash",
        "false",
        "G6",
      ],
      ["any signature is valid", "!provider.verifyCallback({ orderId, paymentId, signature })", "false", "C21"],
      ["a payment of another order is valid", "payment.orderId !== order.gateway_order_id", "false", "C26"],
      [
        "a failed payment is reported as being checked",
        'return status === "failed"\n',
        'return status === "created"\n',
        "C28",
      ],
      ["a waiting call gets no reply at shutdown", "(await readOutcome(deps, order, true)) ?? ", "", "G72"],
    ],
  },
  {
    file: "payments/orders/place-extension.ts",
    tests: ["payments/orders/place-extension"],
    rows: [
      ["another's environment may be extended", '    .where("user_id", "=", user.id)\n', "", "another's, a wrong"],
      [
        "an ended environment may be extended",
        '!mayExtend[row.status] || row.desired === "terminated" || ',
        "",
        "another's, a wrong",
      ],
    ],
  },
];
