// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** Work leases, GPU leases, holds and name reservations. */
export const leaseMutants: readonly FaultsOf[] = [
  {
    file: "database/work-queue.ts",
    tests: ["database/work-queue"],
    rows: [
      ["a worker without the lease writes its result", '[...key, "lease_token"]', "[...key]", "late worker"],
      [
        "a row is fetched while another worker holds it",
        "${readyAt} <= now()`} and",
        "due_at <= now()`} and",
        "leased to one",
      ],
      ["a fetch waits for locked rows", "for update skip locked)", "for update)", "not waited for"],
      ["renewing does not extend the lease", "set lease_expires_at = ${inMs", "set due_at = ${inMs", "renewed while"],
      ["a result does not release the lease", "{ ...noLease, ...values }", "values", "releases the lease"],
    ],
  },
  {
    file: "environments/leases/gpu-leases.ts",
    tests: ["environments/allocation/hold"],
    rows: [
      [
        "concurrent requests do not lock the host",
        "    await sql`select 1 from hosts where id = ${id} for no key update`.execute(tx);\n",
        "",
        "C11",
      ],
      [
        "quarantined GPUs are leased",
        "where host_id = ${hostId} and quarantined_at is null and not exists",
        "where host_id = ${hostId} and not exists",
        "quarantined GPUs and drained",
      ],
      [
        "drained hosts are leased",
        "from hosts where is_open and (${hostId}::text is null or id = ${hostId})",
        "from hosts where (${hostId}::text is null or id = ${hostId})",
        "quarantined GPUs and drained",
      ],
      [
        "holds are taken over without grace",
        "hold_until < now() - ${holdGrace}::interval))`",
        "hold_until < now()))`",
        "lapsed hold is taken",
      ],
      [
        "the leases of a lapsed hold are not released",
        ".set({ released_at: sql`now()` })",
        ".set({ released_at: null })",
        "lapsed hold is taken",
      ],
      [
        "kept files do not bind to their host",
        "and (${hostId}::text is null or id = ${hostId})\n      and ${gpuCount}",
        "\n      and ${gpuCount}",
        "G31",
      ],
      [
        "a locked host is not checked again",
        "    if (!free) continue;\n    await insertLeases(tx, request, free);",
        "    await insertLeases(tx, request, free ?? []);",
        "C11",
      ],
    ],
  },
  {
    file: "environments/leases/free-times.ts",
    tests: ["environments/allocation/hold"],
    rows: [
      [
        "GPUs of all hosts make one machine",
        "partition by host_id, node order by free_at",
        "order by free_at",
        "capacity is that",
      ],
    ],
  },
  {
    file: "environments/allocation/hold.ts",
    tests: ["environments/allocation/hold"],
    rows: [
      [
        "without stock the name reservation stays",
        "  await releaseName(tx, orderId);\n  return { ok: false",
        "  return { ok: false",
        "without stock",
      ],
      [
        "a lapsed hold is not extended",
        "  await extendHold(tx, orderId, holdUntil);\n",
        "",
        "another order is taking over",
      ],
      [
        "releasing an order releases the environment's name",
        "order_id = ${orderId} and held_until is not null for update",
        "order_id = ${orderId} for update",
        "keeps its hold",
      ],
    ],
  },
  {
    file: "environments/allocation/name-reservations.ts",
    tests: ["environments/allocation/hold"],
    rows: [
      [
        "a kept name can be taken by others",
        "            and (held.user_id = excluded.user_id or held.retained_until is null or held.retained_until <= now()))\n",
        ")\n",
        "G31",
      ],
      [
        "releasing a name ends its retention",
        "order_id = ${orderId} and retained_until is null`",
        "order_id = ${orderId}`",
        "G31",
      ],
      [
        "a reserved name can be taken over",
        "(held.order_id is null or held.held_until < now() - ${holdGrace}::interval)",
        "true",
        "C10",
      ],
    ],
  },
];
