// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

/** What a fault means, the text that occurs exactly once, what stands there instead, and the name of who should see it. */
type Row = readonly [means: string, text: string, instead: string, seenBy?: string];

interface Faults {
  /** Below server/src, as the tests' names are. */
  readonly file: string;
  /** The nearest tests. */
  readonly tests: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Wrong lines that could have been written (G103): dropped guards, swapped states, skipped look-ups, wrong signs, missing
 * constraints. None changes nothing: each must be seen by a test. `npm run prove -- faults` plants them one by one.
 */
export const faults: readonly Faults[] = [
  {
    file: "payments/settle.ts",
    tests: ["payments/settle", "payments/watch", "payments/create-environment"],
    rows: [
      ["observers of one order do not take turns", "    .forUpdate()\n", "", "C18"],
      ["a payment of another order is taken over", "before.order_id !== order.id", "false", "another order's"],
      ["failed comes after authorized", "failed: 1, authorized: 2", "failed: 2, authorized: 1", "C32"],
      ["a payment moves backwards too", "rank[payment.status] <= before.rank", "false", "C32"],
      [
        "an authorisation is booked as a capture",
        'if (noted.status === "captured") await',
        "await",
        "changes neither order",
      ],
      [
        "the settling payment is a surplus when it is told again",
        ' || before?.status === "captured") return',
        ") return",
        "C18",
      ],
      [
        "a second payment of a delivered order buys again",
        "if (order.paid_at) {",
        'if (order.status === "paid") {',
        "C34",
      ],
      [
        "partly refunded outside, it is delivered",
        "payment.refund_minor > 0)",
        "payment.refund_minor === payment.amount_minor)",
        "refunded in the dashboard before",
      ],
      [
        "too much money is kept",
        "payment.amount_minor !== order.amount_minor",
        "payment.amount_minor < order.amount_minor",
        "C29",
      ],
      ["any currency will do", " || payment.currency !== order.currency", "", "C29"],
      [
        "a launch that takes half of its stock keeps it",
        "await sql`rollback to savepoint stock`.execute(tx);",
        "",
        "nothing half taken",
      ],
      ["money that buys nothing keeps its hold", "  await releaseHold(tx, order.id);\n", "", "C29"],
      ["a poll under way writes over what was settled", "      claim: null,\n", "", "late worker"],
      [
        "deliver_by is a minute after the payment",
        "deliver_by: minutesAfter(order.now, deliverMinutes)",
        "deliver_by: minutesAfter(order.now, 1)",
        "C18",
      ],
      ["seconds to give up are taken as minutes", "giveUpAfterSeconds / 60", "giveUpAfterSeconds", "C38"],
      ["a refund in the dashboard does not end the environment", "  await endPaidBack(tx, id);\n", "", "C35"],
      ["a refund in the dashboard is booked again each time", " - (payment.refund_minor - disputed);", ";", "C35"],
      [
        "a failed refund that a person settled leaves its order open",
        'if (status === "fulfilled" || status === "refunding")',
        'if (status === "fulfilled")',
        "failed refund",
      ],
    ],
  },
  {
    file: "payments/orders.ts",
    tests: ["payments/orders", "payments/watch"],
    rows: [
      [
        "anybody may clear an order",
        '    .where("gateway_order_id", "=", gatewayOrderId)\n    .where("user_id", "=", userId)\n',
        '    .where("gateway_order_id", "=", gatewayOrderId)\n',
        "C42",
      ],
      [
        "dismissed without asking what is in flight",
        "isOurs(payments, order) && (await hasPaymentInFlight(payments, order))) return false;",
        "false) return false;",
        "C33",
      ],
      ["an order that was paid meanwhile is ended", '      .where("status", "=", "open")\n', "", "paid meanwhile"],
      ["an ended order keeps its hold", "if (ended) await releaseHold(tx, id);", "", "supersedes"],
      ["another request gets the old order", "order.request_hash === request.hash && ", "", "supersedes"],
      ["an order whose time is over is offered again", " && order.hold_until > new Date()", "", "time is over"],
      [
        "superseded without asking what is in flight",
        "  if (isOurs(payments, order) && (await hasPaymentInFlight(payments, order)))\n    throw",
        "  if (false)\n    throw",
        "in flight another",
      ],
      ["a double click fails", 'isUniqueViolation(error, "one_unpaid_order_per_user")', "false", "C9"],
      [
        "a parallel request gets the other one's order",
        'row?.status === "open" && isSame(payments, row, request) ? row',
        'row?.status === "open" ? row',
        "at the same moment",
      ],
    ],
  },
  {
    file: "payments/drafts.ts",
    tests: ["payments/orders"],
    rows: [
      ["a draft is nobody's from the start", "claim: sql`gen_random_uuid()`,", "claim: null,", "C9"],
      [
        "a second try does not look for the first one's order",
        "draft.attempts > 1 ? await",
        "false ? await",
        "C12 both",
      ],
      ["a lost answer is not looked up", "unknown ? await", "false ? await", "C12 the answer"],
      [
        "an order of another amount is taken for ours",
        "made.amountMinor !== draft.amount_minor",
        "false",
        "late caller",
      ],
      ["a late caller opens a draft that is another's", '    .where("claim", "=", draft.claim)\n', "", "late caller"],
      ["an expired draft keeps its hold", "    if (expired) await releaseHold(tx, id);\n", "", "C13"],
      ["more time holds GPUs of its own", "  if (draft.extends) return draft as Draft;\n", "", "hours are added"],
      [
        "a provider that cannot be reached ends the draft",
        "error instanceof GatewayError && !error.retryable) await expireDraft",
        "error instanceof GatewayError && error.retryable) await expireDraft",
        "C12 both",
      ],
      ["watched for five hours instead of days", "watchDays * 24 * 60", "watchDays * 60", "an order answers"],
    ],
  },
  {
    file: "payments/watch.ts",
    tests: ["payments/watch", "payments/orders"],
    rows: [
      [
        "orders of other keys are asked about",
        "      and gateway = ${provider.kind} and mode = ${provider.mode}\n      order by",
        "      order by",
        "other keys",
      ],
      ["a restart waits for the next poll", "      if (first) await makeUnpaidDue(payments);\n", "", "C15"],
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
      ["captured late without stock", "  if (!held.ok) return;\n", "", "C31"],
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
      ["a late poll writes over what was settled", '    .where("claim", "=", order.claim)\n', "", "late worker"],
      [
        "with the provider away a hold lasts for ever",
        '    await endUnpaid(payments, row.id, "expired");\n',
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
        "  if (made) await storeOrder(payments, draft, made);\n  else if",
        "  if",
        "C14",
      ],
    ],
  },
  {
    file: "payments/refunds.ts",
    tests: ["payments/refunds", "payments/ledger", "payments/lost-machine"],
    rows: [
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
    file: "payments/events.ts",
    tests: ["payments/webhook"],
    rows: [
      [
        "an event of an order that is not stored yet is closed",
        'if (outcome === "unknown_order") throw',
        'if (outcome !== "unknown_order" && outcome !== "noted" && outcome !== "settled") throw',
        "C24",
      ],
      [
        "another account's event is tried for ever",
        "error instanceof GatewayError && !error.retryable) await end",
        "false) await end",
        "C24",
      ],
      [
        "an event of a week ago is tried for ever",
        "> watchDays * 86_400_000) return",
        "> watchDays * 86_400_000_000) return",
        "C24",
      ],
      [
        "a refund's event is not followed",
        "if (refund) await followRefund(payments, refund.entity.id, paymentId);",
        "",
        "followed at once",
      ],
    ],
  },
  {
    file: "payments/webhook.ts",
    tests: ["payments/webhook"],
    rows: [
      ["lengths of signatures are not compared", "given.length === expected.length && timing", "timing", "C21"],
      ["a signature must be of every secret", "return secrets.some(", "return secrets.every(", "C22"],
      [
        "signed is what JSON makes of the bytes",
        'update(body).digest("hex"));\n',
        'update(JSON.stringify(JSON.parse(body.toString()))).digest("hex"));\n',
        "C21",
      ],
      ["nothing needs to be signed", ' || !isSigned(body, headers["x-razorpay-signature"], webhookSecrets)', "", "C21"],
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
      ["a credit never runs out", " and used_by_order is null\n", "\n", "later than ten"],
      ["a credit for whoever cancels", 'if (reason === "not_delivered")\n', "if (true)\n", "cancelled while pending"],
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
    file: "payments/ask-provider.ts",
    tests: ["payments/orders", "payments/watch"],
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
    file: "payments/extensions.ts",
    tests: ["payments/extensions"],
    rows: [
      ["another's environment may be extended", '    .where("user_id", "=", userId)\n', "", "another's, a wrong"],
      [
        "what has ended may be extended",
        '!mayExtend[row.status] || row.desired === "terminated" || ',
        "",
        "another's, a wrong",
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
      ["only two credits are found, not none", "having count(c.id) <> 1", "having count(c.id) > 1", "each invariant"],
    ],
  },
  {
    file: "payments/razorpay.ts",
    tests: ["payments/razorpay", "payments/create-environment"],
    rows: [
      ["lengths of signatures are not compared", "given.length === expected.length && timing", "timing", "C21"],
      ["a signature in upper case holds", "Buffer.from(signature);", "Buffer.from(signature.toLowerCase());", "C21"],
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
        "errorReason: entity.error_reason ?? null,\n    createdAt: new Date(entity.created_at * 1000)",
        "errorReason: entity.error_reason ?? null,\n    createdAt: new Date(entity.created_at)",
        "entity becomes",
      ],
    ],
  },
  {
    file: "payments/create-environment.ts",
    tests: ["payments/create-environment"],
    rows: [
      [
        "a stolen proof delivers",
        '    .where("gateway_order_id", "=", gatewayOrderId)\n    .where("user_id", "=", userId)\n',
        '    .where("gateway_order_id", "=", gatewayOrderId)\n',
        "C26",
      ],
      ["a body of another user is taken", "container.user_id !== userId", "false", "C26"],
      [
        "another environment than was ordered",
        "hashOf(container, order.currency, order.amount_minor) !== order.request_hash",
        "false",
        "G6",
      ],
      ["any signature holds", "!provider.verifyCallback({ orderId, paymentId, signature })", "false", "C21"],
      ["a payment of another order holds", "payment.orderId !== order.gateway_order_id", "false", "C26"],
      [
        "a failed payment is said to be checked",
        'return status === "failed"\n',
        'return status === "created"\n',
        "C28",
      ],
      ["waiting at shutdown there is no answer", "(await look(payments, order, true)) ?? ", "", "G72"],
    ],
  },
  {
    file: "payments/order-request.ts",
    tests: ["payments/orders", "payments/create-environment"],
    rows: [
      ["the browser's price counts", "minorOf(amount) !== amountMinor", "false", "C1-C4"],
      [
        "the least amount is too little",
        "amountMinor < minimumMinor[currency]",
        "amountMinor <= minimumMinor[currency]",
        "C7",
      ],
      [
        "one of three user ids is not looked at",
        "[container.user_id, payment.user_id, payment.container_request.user_id]",
        "[container.user_id, payment.user_id]",
        "C5",
      ],
      [
        "the two requests may differ",
        "hashOf(container, currency, 0) !== hashOf(payment.container_request, currency, 0)",
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
    file: "payments/caps.ts",
    tests: ["payments/orders"],
    rows: [
      ["GPUs of the past count", " and l.released_at is null and e.user_id", " and e.user_id", "C41"],
      ["one order a minute more", "orders >= caps.ordersPerMinute", "orders > caps.ordersPerMinute", "C41"],
      [
        "the last GPU of the cap cannot be had",
        "gpus + gpuCount > caps.gpusPerUser",
        "gpus + gpuCount >= caps.gpusPerUser",
        "C41",
      ],
      ["everybody's launches count", "user_id = ${userId} and status = 'pending'", "status = 'pending'", "C41"],
      [
        "one host that cannot run a type stops its sale",
        'hosts.some(({ state }) => state !== "unavailable")',
        'hosts.every(({ state }) => state !== "unavailable")',
        "nothing can run",
      ],
    ],
  },
  {
    file: "payments/timing.ts",
    tests: ["payments/watch"],
    rows: [
      [
        "nobody asks about what is owed after four days",
        'if (status === "paid" || status === "refunding") return',
        "if (false) return",
        "polls come",
      ],
      [
        "the end of a hold is no time to look",
        '  if (status === "open") times.push(holdEnd({ hold_until }).getTime());\n',
        "",
        "polls come",
      ],
      ["the last look is missing", "return now < watch_until ? watch_until : null;", "return null;", "polls come"],
    ],
  },
  {
    file: "payments/wait-until.ts",
    tests: ["payments/wait-until"],
    rows: [
      ["another user's change ends the wait", "({ user }) => user === userId && hear()", "() => hear()", "no other"],
      ["what is heard while looking is lost", "      if (heard) continue;\n", "", "while looking"],
    ],
  },
  {
    file: "environments/leases.ts",
    tests: ["environments/hold"],
    rows: [
      [
        "askers of one host do not take turns",
        "    await sql`select 1 from hosts where id = ${id} for no key update`.execute(tx);\n",
        "",
        "C11",
      ],
      [
        "quarantined GPUs are leased",
        "where host_id = ${hostId} and quarantined_at is null and not exists",
        "where host_id = ${hostId} and not exists",
        "put aside",
      ],
      [
        "drained hosts are leased",
        "where drained_at is null and (${hostId}::text is null or id = ${hostId})",
        "where (${hostId}::text is null or id = ${hostId})",
        "put aside",
      ],
      [
        "holds are taken over without grace",
        "hold_until < now() - ${holdGrace}::interval`",
        "hold_until < now()`",
        "lapsed hold is taken",
      ],
      [
        "the lease of a lapsed hold stays",
        "released_at = now() where gpu_id = any",
        "released_at = null where gpu_id = any",
        "lapsed hold is taken",
      ],
      [
        "kept files bind to no host",
        "and (${hostId}::text is null or id = ${hostId})\n      and (select",
        "\n      and (select",
        "G31",
      ],
      [
        "GPUs of all hosts make one machine",
        "partition by host_id order by free_at",
        "order by free_at",
        "capacity counts",
      ],
      [
        "a host that had room is not looked at again",
        "    if (free.length < gpuCount) continue;\n    await insertLeases",
        "    await insertLeases",
        "C11",
      ],
    ],
  },
  {
    file: "environments/hold.ts",
    tests: ["environments/hold"],
    rows: [
      [
        "without stock the name is kept",
        "  await releaseName(tx, orderId);\n  return { ok: false",
        "  return { ok: false",
        "without stock",
      ],
      ["a lapsed hold counts as held", "  await extendHold(tx, orderId, holdUntil);\n", "", "this very moment"],
      [
        "a launched environment's name goes with its order",
        "order_id = ${orderId} and held_until is not null for update",
        "order_id = ${orderId} for update",
        "keeps its hold",
      ],
    ],
  },
  {
    file: "environments/names.ts",
    tests: ["environments/hold"],
    rows: [
      [
        "a kept name is anybody's",
        "            and (held.user_id = excluded.user_id or held.retained_until is null or held.retained_until <= now()))\n",
        ")\n",
        "G31",
      ],
      [
        "giving a name back ends its keeping",
        "order_id = ${orderId} and retained_until is null`",
        "order_id = ${orderId}`",
        "G31",
      ],
      [
        "a name that is taken is taken over",
        "(held.order_id is null or held.held_until < now() - ${holdGrace}::interval)",
        "true",
        "C10",
      ],
    ],
  },
  {
    file: "environments/launch.ts",
    tests: ["environments/hold", "payments/settle", "environments/reconcile", "payments/extensions"],
    rows: [
      [
        "launched with fewer GPUs than were paid",
        "!host_id || leases.length !== gpuCount",
        "!host_id",
        "keeps its hold",
      ],
      [
        "the leases stay the order's",
        'set({ holder_kind: "environment", holder_id: id, hold_until: null })',
        "set({ hold_until: null })",
        "C18",
      ],
      [
        "the name of what runs lapses",
        "set held_until = null, retained_until = null",
        "set retained_until = null",
        "keeps its hold",
      ],
      ["owners of a name share its files", "`${userId}\\0${subdomain}`", "subdomain", "of two owners"],
      [
        "an extension has the environment of nobody",
        'extended === null ? "order_id" : "id"',
        '"order_id"',
        "hours are added",
      ],
    ],
  },
  {
    file: "environments/extend.ts",
    tests: ["payments/extensions"],
    rows: [
      [
        "what is being ended is extended",
        " and desired <> 'terminated' and status <> 'terminated'\n",
        "\n",
        "ended before",
      ],
      [
        "what ended a moment ago is extended",
        "      and (expires_at > now() or (expires_at is null and banked_seconds > 0)) returning id",
        " returning id",
        "ended before",
      ],
      [
        "stopped, the hours are lost",
        "${hours * 3600} else banked_seconds end`;",
        "0 else banked_seconds end`;",
        "banked",
      ],
      [
        "paid back, it goes on",
        "expires_at - make_interval(secs => ${hours * 3600})",
        "expires_at",
        "ends that much earlier",
      ],
    ],
  },
  {
    file: "environments/actions.ts",
    tests: ["environments/routes", "payments/settle"],
    rows: [
      [
        "what has answered can be cancelled and is paid back",
        "row.created_at !== null || row.desired",
        "row.desired",
        "G75",
      ],
      [
        "anybody may act on an environment",
        '    .where("id", "=", id)\n    .where("user_id", "=", userId)\n',
        '    .where("id", "=", id)\n',
        "exactly like none",
      ],
      ["restarted without GPUs", "if (!leased) throw", "if (false) throw", "leases before"],
    ],
  },
  {
    file: "environments/record.ts",
    tests: ["environments/reconcile", "payments/lost-machine"],
    rows: [
      [
        "a late worker's find counts",
        "where id = ${row.id} and claim = ${row.claim} and desired = ${row.desired} returning id`.execute(tx);\n  if (rows",
        "where id = ${row.id} returning id`.execute(tx);\n  if (rows",
        "late one writes",
      ],
      [
        "refunded meanwhile, it is shown as running",
        "  if (first && !delivered) return await giveUp(tx, row);\n",
        "",
        "no longer waits",
      ],
      [
        "the time that was used is paid back",
        "expires_at.getTime() - down_since.getTime()",
        "down_since.getTime() - expires_at.getTime()",
        "fails for ten",
      ],
      [
        "whoever cancels is told it failed",
        'row.ended_reason === "cancelled" ? "cancelled" : "not_delivered"',
        '"not_delivered"',
        "owes once",
      ],
    ],
  },
  {
    file: "environments/effects.ts",
    tests: ["environments/reconcile"],
    rows: [
      [
        "an ended environment keeps its GPUs",
        '  await revokeGrants(tx, row.id);\n  await releaseLeases(tx, "environment", row.id);\n',
        "  await revokeGrants(tx, row.id);\n",
        "expiry, by",
      ],
      [
        "bonus hours are told and not given",
        "(row.duration_hours + bonusHours)",
        "row.duration_hours",
        "adds the bonus",
      ],
      [
        "monthly plans lose their GPUs when stopped",
        '  if (planOf(row.duration_hours) === "monthly") return;\n',
        "",
        "G2",
      ],
    ],
  },
  {
    file: "environments/claims.ts",
    tests: ["environments/claims", "environments/reconcile"],
    rows: [
      [
        "what has answered is given up",
        "created_at is null and first_attempt_at is not null and",
        "first_attempt_at is not null and",
        "answered in time",
      ],
      ["two workers share a row", " for update skip locked", "", "each due row"],
    ],
  },
  {
    file: "database/migrations/0001_initial.sql",
    tests: ["database/constraints"],
    rows: [
      ["two holders of one GPU", "create unique index one_lease_per_gpu", "create index one_lease_per_gpu", "refused"],
      [
        "two unpaid orders of one user",
        "create unique index one_unpaid_order_per_user",
        "create index one_unpaid_order_per_user",
        "refused",
      ],
      ["one order of the provider is two of ours", "  unique (gateway, gateway_order_id),\n", "", "refused"],
      [
        "a state says paid and no date does",
        "  check ((paid_at is not null) = (status in ('paid', 'fulfilled', 'refunding', 'refunded'))),\n",
        "",
        "refused",
      ],
      [
        "a paid order leaves the queue",
        "  check (status not in ('draft', 'open', 'paid', 'refunding') or next_check_at is not null),\n",
        "",
        "refused",
      ],
      [
        "two payments settle one order",
        "create unique index one_settling_payment",
        "create index one_settling_payment",
        "refused",
      ],
      ["one payment is two rows", "  unique (gateway, gateway_payment_id),\n", "", "refused"],
      [
        "more goes back than came in",
        "  check (refund_minor between 0 and amount_minor),\n  check (not settles_order",
        "  check (not settles_order",
        "refused",
      ],
      [
        "an authorisation settles",
        "  check (not settles_order or status = 'captured')\n",
        "  check (true)\n",
        "refused",
      ],
      [
        "two refunds for one reason",
        "create unique index one_refund_per_reason",
        "create index one_refund_per_reason",
        "refused",
      ],
      [
        "a refund that is owed leaves the queue",
        "  check (status = 'processed' or next_check_at is not null)\n",
        "  check (true)\n",
        "refused",
      ],
      ["two credits for one order", "  unique (order_id, reason)\n", "  check (true)\n", "refused"],
      [
        "one delivery uses two credits",
        "used_by_order text unique references orders",
        "used_by_order text references orders",
        "refused",
      ],
      [
        "two environments of one order",
        "order_id text not null unique references orders",
        "order_id text not null references orders",
        "refused",
      ],
      [
        "two environments of one name",
        "create unique index one_live_environment_per_name",
        "create index one_live_environment_per_name",
        "refused",
      ],
    ],
  },
  {
    file: "database/migrations/0008_ledger.sql",
    tests: ["payments/ledger"],
    rows: [
      [
        "an entry need not balance",
        "having sum(amount_minor) <> 0) then",
        "having sum(amount_minor) is null) then",
        "database refuses",
      ],
      [
        "the journal can be rewritten",
        "before update or delete on journal_lines",
        "before delete on journal_lines",
        "database refuses",
      ],
    ],
  },
  {
    file: "payments/lower-net.ts",
    tests: ["payments/settle", "billing/read", "payments/lost-machine"],
    rows: [["what goes back adds to what billing counts", "o.usd_minor - round(", "o.usd_minor + round("]],
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
    file: "payments/sweep.ts",
    tests: ["payments/sweep"],
    rows: [
      ["the second page is never read", "skip: page * width", "skip: 0"],
      ["what is known already is told again", "return !row ||", "return true ||"],
      ["the sweep does not go back over a stop", "minutesAfter(swept_until, -sweepOverlapMinutes)", "now"],
      ["the sweep of one key moves another's", "where key_id = ${provider.keyId}`.execute(db);", "`.execute(db);"],
    ],
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
    file: "payments/refund-requests.ts",
    tests: ["payments/refund-requests"],
    rows: [["another's order can be asked about", "order.user_id !== userId", "false"]],
  },
  {
    file: "payments/tax.ts",
    tests: ["payments/tax", "billing/credit-notes"],
    rows: [["the tax year turns at midnight UTC", "const indiaMs = 5.5 * 3_600_000;", "const indiaMs = 0;"]],
  },
];
