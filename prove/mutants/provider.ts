// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

import type { FaultsOf } from "./mutants-of.ts";

/** What is asked of the provider, and what it tells. */
export const providerFaults: readonly FaultsOf[] = [
  {
    file: "payments/provider/is-signed.ts",
    tests: ["payments/orders/confirm-payment", "payments/settlement/webhook-route", "payments/provider/razorpay"],
    rows: [
      ["lengths of signatures are not compared", "given.length === expected.length && timing", "timing", "C21"],
      ["a signature in upper case holds", "Buffer.from(signature);", "Buffer.from(signature.toLowerCase());", "C21"],
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
        "filter should not",
      ],
      ["no idempotency key is sent", '{ "x-refund-idempotency": key }', "{}", "what is sent"],
      ["a refund in progress is final", "[408, 409, 429]", "[408, 429]", "what is final"],
      [
        "refunded without a sum is not refunded",
        '(entity.status === "refunded" ? entity.amount : 0)',
        "0",
        "entity becomes",
      ],
      ["no call ends by itself", "    signal: AbortSignal.timeout(timeoutMs),\n", "", "hanging"],
      ["redirects are followed", 'redirect: "error"', 'redirect: "follow"', "what is final"],
      [
        "payments are of 1970",
        "errorReason: entity.error_reason ?? null,\n      createdAt: new Date(entity.created_at * 1000)",
        "errorReason: entity.error_reason ?? null,\n      createdAt: new Date(entity.created_at)",
        "entity becomes",
      ],
    ],
  },
  {
    file: "payments/settlement/sync-payments.ts",
    tests: ["payments/orders/place-order", "payments/orders/order-poller"],
    rows: [
      ["an attempt that was begun is nothing", 'return status !== "failed";', 'return status === "captured";', "C33"],
      [
        "a stray payment in an order's list is settled",
        "all.filter(({ orderId }) => orderId === order.gateway_order_id)",
        "all",
        "another order's",
      ],
    ],
  },
  {
    file: "payments/orders/order-poller.ts",
    tests: ["payments/orders/order-poller", "payments/orders/place-order"],
    rows: [
      [
        "orders of other keys are asked about",
        "${partitions[partition]} and gateway = ${provider.kind} and mode = ${provider.mode}`",
        "${partitions[partition]}`",
        "other keys",
      ],
      ["a restart waits for the next poll", "      if (isFirst) await makeUnpaidDue(deps);\n", "", "C15"],
      [
        "late, another amount is captured",
        "attempt.amountMinor !== order.amount_minor || attempt.currency !== order.currency",
        "false",
        "captured by us",
      ],
      [
        "an open order's authorisation is captured by us",
        ' || (order.status !== "cancelled" && order.status !== "expired")',
        "",
        "captured by us",
      ],
      [
        "captured late for an account that is stopped",
        "|| !(await mayHold(tx, deps, userId, gpuCount))",
        "",
        "is not captured",
      ],
      ["captured late without stock", "  if (!held) return;\n", "", "C31"],
      [
        "a capture that fails keeps the stock",
        "    await db.transaction().execute((tx) => releaseHold(tx, orderId));\n",
        "",
        "capture that fails",
      ],
      [
        "who is paying gets half an hour again and again",
        "!inFlight || longest <= order.hold_until",
        "!inFlight",
        "half an hour",
      ],
      [
        "the longer hold is written down and not held",
        " await extendHold(tx, order.id, longest);",
        ";",
        "half an hour",
      ],
      [
        "with the provider away a hold lasts for ever",
        '    await endUnpaidOrder(deps, row.id, "expired");\n',
        "    {}\n",
        "provider away",
      ],
      [
        "the hold ends before its grace",
        "holdEnd(order) <= order.now",
        "order.hold_until <= order.now",
        "hold is over",
      ],
      [
        "a dead caller's order is not looked for",
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
        "an event of an order that is not stored yet is closed",
        'if (outcome === "unknown_order") throw',
        'if (outcome !== "unknown_order" && outcome !== "recorded" && outcome !== "settled") throw',
        "C24",
      ],
      [
        "another account's event is tried for ever",
        "error instanceof ProviderError && !error.retryable) await end",
        "false) await end",
        "C24",
      ],
      [
        "an event of a week ago is tried for ever",
        "> pollDays * 86_400_000) return",
        "> pollDays * 86_400_000_000) return",
        "C24",
      ],
      [
        "a refund's event is not followed",
        "if (refund) await followRefund(deps, refund.entity.id, paymentId);",
        "",
        "followed at once",
      ],
    ],
  },
  {
    file: "payments/settlement/webhook-route.ts",
    tests: ["payments/settlement/webhook-route"],
    rows: [
      ["a signature must be of every secret", "webhookSecrets.some(", "webhookSecrets.every(", "C22"],
      [
        "signed is what JSON makes of the bytes",
        "isSigned(body, ",
        "isSigned(JSON.stringify(JSON.parse(body.toString())), ",
        "C21",
      ],
      [
        "nothing needs to be signed",
        " || !webhookSecrets.some((secret) => isSigned(body, signature, secret))",
        "",
        "C21",
      ],
      [
        "told twice, it fails",
        '    .onConflict((conflict) => conflict.columns(["gateway", "event_id"]).doNothing())\n',
        "",
        "C20",
      ],
      [
        "without an id every repeat is new",
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
      ["the second page is never read", "skip: page * width", "skip: 0"],
      ["what is known already is told again", "return !row ||", "return true ||"],
      ["the sweep does not go back over a stop", "minutesAfter(swept_until, -sweepOverlapMinutes)", "now"],
      ["the sweep of one key moves another's", " where key_id = ${provider.keyId}`.execute(", "`.execute("],
    ],
  },
];
