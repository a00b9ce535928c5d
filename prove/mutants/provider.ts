// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** Calls to the provider and its webhooks. */
export const providerMutants: readonly FaultsOf[] = [
  {
    file: "payments/provider/is-signed.ts",
    tests: ["payments/orders/confirm-payment", "payments/settlement/webhook-route", "payments/provider/razorpay"],
    rows: [
      ["lengths of signatures are not compared", "given.length === expected.length && timing", "timing", "C21"],
      ["an upper-case signature is valid", "Buffer.from(signature);", "Buffer.from(signature.toLowerCase());", "C21"],
    ],
  },
  {
    file: "payments/provider/razorpay.ts",
    tests: ["payments/provider/razorpay", "payments/orders/confirm-payment"],
    rows: [
      ["ids are not escaped", "const id = encodeURIComponent;", "const id = String;", "every id"],
      [
        "the first order of a list is ours",
        "items.find((item) => item.receipt === receipt)",
        "items[0]",
        "another receipt",
      ],
      ["no idempotency key is sent", '{ "x-refund-idempotency": key }', "{}", "requests have"],
      ["a refund in progress is final", "[408, 409, 429]", "[408, 429]", "final and retryable"],
      [
        "a refund without an amount is ignored",
        '(entity.status === "refunded" ? entity.amount : 0)',
        "0",
        "entity becomes",
      ],
      ["calls have no timeout", "    signal: AbortSignal.timeout(timeoutMs),\n", "", "hanging"],
      ["redirects are followed", 'redirect: "error"', 'redirect: "follow"', "final and retryable"],
      [
        "payment times are not converted",
        "errorReason: entity.error_reason ?? null,\n      createdAt: new Date(entity.created_at * 1000)",
        "errorReason: entity.error_reason ?? null,\n      createdAt: new Date(entity.created_at)",
        "entity becomes",
      ],
    ],
  },
  {
    file: "payments/provider/call-rate.ts",
    tests: ["payments/provider/call-rate"],
    rows: [
      ["polls have no bound of their own", "isPoll ? state.nextPollAt - pollBurstMs - now : 0", "0", "300 a minute"],
      ["each refusal of one burst slows down", "!isAlone && startedAt > state.cutAt", "!isAlone", "count once"],
      [
        "the provider's Retry-After is ignored",
        "retryAfterMs ?? (pauses ? state.lastPauseMs : 0)",
        "pauses ? state.lastPauseMs : 0",
        "Retry-After",
      ],
    ],
  },
  {
    file: "payments/settlement/sync-payments.ts",
    tests: ["payments/orders/place-order", "payments/orders/order-poller", "payments/orders/late-capture"],
    rows: [
      ["a created attempt is ignored", 'return status !== "failed";', 'return status === "captured";', "C33"],
      [
        "another order's payment in the list is settled",
        "all.filter(({ orderId }) => orderId === order.gateway_order_id)",
        "all",
        "another order's",
      ],
    ],
  },
  {
    file: "payments/orders/order-poller.ts",
    tests: [
      "payments/orders/order-poller",
      "payments/orders/late-capture",
      "payments/orders/place-order",
      "payments/orders/lost-response",
    ],
    rows: [
      [
        "orders of other keys are polled",
        "${partitions[partition]} and gateway = ${provider.kind} and mode = ${provider.mode}`",
        "${partitions[partition]}`",
        "other keys",
      ],
      ["a restart waits for the next poll", "      if (isFirst) await makeUnpaidDue(deps);\n", "", "C15"],
      [
        "a late payment with another amount is captured",
        "attempt.amountMinor !== order.amount_minor || attempt.currency !== order.currency",
        "false",
        "exact amount",
      ],
      [
        "the authorization of an open order is captured",
        ' || (order.status !== "cancelled" && order.status !== "expired")',
        "",
        "exact amount",
      ],
      [
        "a late payment of a held account is captured",
        "    if (!(await mayHold(tx, deps, userId, gpuCount))) return false;\n",
        "",
        "is not captured",
      ],
      ["a late payment is captured without stock", "  if (!held) return;\n", "", "C31"],
      [
        "a capture that fails keeps the stock",
        "    await db.transaction().execute((tx) => releaseHold(tx, orderId));\n",
        "",
        "capture that fails",
      ],
      [
        "a payment in flight extends the hold repeatedly",
        "!inFlight || longest <= order.hold_until",
        "!inFlight",
        "half an hour",
      ],
      ["the longer hold does not extend the leases", " await extendHold(tx, order.id, longest);", ";", "half an hour"],
      [
        "with the provider unavailable a hold never ends",
        '    await endUnpaidOrder(deps, row.id, "expired");\n',
        "    {}\n",
        "unreachable provider",
      ],
      [
        "the hold ends before its grace",
        "holdEnd(order) <= order.now",
        "order.hold_until <= order.now",
        "hold is over",
      ],
      [
        "the order of a crashed caller is not looked up",
        "  if (made) await storeOrder(deps, draft, made);\n  else if",
        "  if",
        "C14",
      ],
    ],
  },
  {
    file: "payments/settlement/webhook-processor.ts",
    tests: ["payments/settlement/webhook-route"],
    rows: [
      [
        "an event of an order not yet stored is finished",
        'if (outcome === "unknown_order")\n    throw',
        'if (outcome !== "unknown_order" && outcome !== "recorded" && outcome !== "settled") throw',
        "C24",
      ],
      [
        "another account's event is retried forever",
        "error instanceof ProviderError && !error.retryable) await end",
        "false) await end",
        "C24",
      ],
      [
        "an old event is retried forever",
        "> pollDays * 86_400_000) return",
        "> pollDays * 86_400_000_000) return",
        "C24",
      ],
      [
        "a refund's event is ignored",
        "if (refund) await followRefund(deps, refund.entity.id, paymentId);",
        "",
        "polled at once",
      ],
    ],
  },
  {
    file: "payments/settlement/webhook-route.ts",
    tests: ["payments/settlement/webhook-route"],
    rows: [
      ["a signature must match every secret", "webhookSecrets.some(", "webhookSecrets.every(", "C22"],
      [
        "the signature is checked over reserialized JSON",
        "isSigned(body, ",
        "isSigned(JSON.stringify(JSON.parse(body.toString())), ",
        "C21",
      ],
      [
        "unsigned webhooks are accepted",
        " || !webhookSecrets.some((secret) => isSigned(body, signature, secret))",
        "",
        "C21",
      ],
      [
        "a repeated event fails",
        '    .onConflict((conflict) => conflict.columns(["gateway", "event_id"]).doNothing())\n',
        "",
        "C20",
      ],
      [
        "without an id every repetition is a new event",
        'createHash("sha256").update(body).digest("hex")',
        "crypto.randomUUID()",
        "C22",
      ],
    ],
  },
  {
    file: "payments/settlement/payment-sweep.ts",
    tests: ["payments/settlement/payment-sweep"],
    rows: [
      ["the second page is not read", "skip: page * width", "skip: 0"],
      ["known payments are stored as events again", "return !row ||", "return true ||"],
      ["the sweep does not cover a downtime", "minutesAfter(swept_until, -sweepOverlapMinutes)", "now"],
      ["the sweep of one key moves another's", " where key_id = ${provider.keyId}`.execute(", "`.execute("],
    ],
  },
];
