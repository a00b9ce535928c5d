import type { FaultsOf } from "./mutants-of.ts";

/** The journal, what is derived from it, and its invariants. */
export const ledgerMutants: readonly FaultsOf[] = [
  {
    file: "payments/ledger/journal.ts",
    tests: ["payments/ledger/journal", "payments/settlement/settle-payment"],
    rows: [
      [
        "processed refunds stay payable",
        'kind: "refund_arrived", debit: "refunds_payable", credit: "gateway"',
        'kind: "refund_arrived", debit: "prepaid", credit: "gateway"',
        "refund is payable",
      ],
      ["a fee is income", 'debit: "fees", credit: "gateway"', 'debit: "gateway", credit: "fees"', "a fee"],
      [
        "a second refund has the same entry",
        "before === 0 ? entry",
        "before >= 0 ? entry",
        "a failed refund is prepaid",
      ],
      [
        "a duplicate's refund reduces revenue",
        '  if (!settles_order) return "prepaid";\n',
        "",
        "duplicate payment after",
      ],
      [
        "the end of a session is booked with the wrong sign",
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
      ["a refund increases billing", "o.usd_minor - round(", "o.usd_minor + round("],
      [
        "a later smaller share counts again",
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
        "the invariant finds only unbooked payments",
        "(p.status = 'captured') <> (j.id is not null)",
        "p.status <> 'captured' and j.id is not null",
        "each invariant",
      ],
      [
        "the invariant misses a kept duplicate",
        "p.status = 'captured' and not p.settles_order and",
        "p.status = 'authorized' and not p.settles_order and",
        "each invariant",
      ],
      [
        "the invariant misses a missing credit",
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
