import type { FaultsOf } from "./mutants-of.ts";

/** Constraints and triggers of the database. */
export const schemaMutants: readonly FaultsOf[] = [
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
      ["one provider order belongs to two orders", "  unique (gateway, gateway_order_id),\n", "", "refused"],
      [
        "a paid order without a paid date",
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
        "more is refunded than was paid",
        "  check (refund_minor between 0 and amount_minor),\n  check (not settles_order",
        "  check (not settles_order",
        "refused",
      ],
      [
        "an authorization settles",
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
        "an unprocessed refund leaves the queue",
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
    tests: ["payments/ledger/journal"],
    rows: [
      [
        "an entry is unbalanced",
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
];
