// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

import type { FaultsOf } from "./mutants-of.ts";

/** Leases of work, GPUs, names and the environments that hold them. */
export const leaseFaults: readonly FaultsOf[] = [
  {
    file: "database/work-queue.ts",
    tests: ["database/work-queue"],
    rows: [
      ["a late worker writes its result", '[...key, "lease_token"]', "[...key]", "late one"],
      [
        "a row is fetched while another worker holds it",
        "${readyAt} <= now()`} and",
        "due_at <= now()`} and",
        "leased to one",
      ],
      ["a fetch waits for what another takes", "for update skip locked)", "for update)", "not waited for"],
      [
        "a renewed lease stays as it was",
        "set lease_expires_at = ${inMs",
        "set due_at = ${inMs",
        "renewed for as long",
      ],
      ["a result keeps the lease", "{ ...noLease, ...values }", "values", "gives the lease back"],
    ],
  },
  {
    file: "environments/leases/gpu-leases.ts",
    tests: ["environments/allocation/hold"],
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
        "from hosts where is_open and (${hostId}::text is null or id = ${hostId})",
        "from hosts where (${hostId}::text is null or id = ${hostId})",
        "put aside",
      ],
      [
        "holds are taken over without grace",
        "hold_until < now() - ${holdGrace}::interval))`",
        "hold_until < now()))`",
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
        "a host that had room is not looked at again",
        "    if (free.length < gpuCount) continue;\n    await insertLeases",
        "    await insertLeases",
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
        "partition by host_id order by free_at",
        "order by free_at",
        "capacity counts",
      ],
    ],
  },
  {
    file: "environments/allocation/hold.ts",
    tests: ["environments/allocation/hold"],
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
    file: "environments/allocation/name-reservations.ts",
    tests: ["environments/allocation/hold"],
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
    file: "environments/allocation/launch.ts",
    tests: [
      "environments/allocation/hold",
      "payments/settlement/settle-payment",
      "environments/reconciler/reconcile",
      "payments/orders/place-extension",
    ],
    rows: [
      [
        "launched with fewer GPUs than were paid",
        "!host_id || leases.length !== gpuCount",
        "!host_id",
        "keeps its hold",
      ],
      [
        "the leases stay the order's",
        "set holder_kind = 'environment', holder_id = ${id}, hold_until = null",
        "set hold_until = null",
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
    file: "environments/time/extend.ts",
    tests: ["payments/orders/place-extension"],
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
      ["stopped, the hours are lost", "banked_seconds + ${hours * 3600} else", "banked_seconds + 0 else", "banked"],
      [
        "paid back, it goes on",
        "expires_at - make_interval(secs => ${seconds})",
        "expires_at",
        "ends that much earlier",
      ],
    ],
  },
  {
    file: "environments/owned-environment.ts",
    tests: ["environments/api/environment-routes"],
    rows: [
      [
        "anybody may act on an environment",
        "where id = ${id} and user_id = ${userId} for update",
        "where id = ${id} for update",
        "exactly like none",
      ],
    ],
  },
  {
    file: "environments/api/environment-actions.ts",
    tests: ["environments/api/environment-actions", "payments/settlement/settle-payment"],
    rows: [
      [
        "what has answered can be cancelled and is paid back",
        "row.created_at !== null || row.desired",
        "row.desired",
        "G75",
      ],
      ["restarted without GPUs", "if (!leased) throw", "if (false) throw", "leases before"],
    ],
  },
  {
    file: "environments/reconciler/write-status.ts",
    tests: ["environments/reconciler/reconcile", "payments/settlement/lost-machine"],
    rows: [
      [
        "a result counts though something else is wanted by now",
        "if (!(await finish(tx, environmentQueue, row, values, sql`desired = ${row.desired}`))) throw",
        "if (!(await finish(tx, environmentQueue, row, values))) throw",
      ],
      [
        "refunded meanwhile, it is shown as running",
        '(await delivery.delivered(tx, environment)) ?? "not_delivered"',
        "(await delivery.delivered(tx, environment)) ?? { bonusHours: 0 }",
        "no longer waits",
      ],
      [
        "the time that was used is paid back",
        "expires_at.getTime() - fault_since.getTime()",
        "fault_since.getTime() - expires_at.getTime()",
        "fails for ten",
      ],
      [
        "whoever cancels is told it failed",
        'return reason === "cancelled" || reason === "silent" ? reason : "not_delivered"',
        'return "not_delivered"',
        "owes once",
      ],
    ],
  },
  {
    file: "environments/reconciler/on-status-change.ts",
    tests: ["environments/reconciler/reconcile"],
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
        "if (!keepsGpus) await releaseLeases",
        "await releaseLeases",
        "G2",
      ],
      ["monthly plans bank their time when stopped", 'keepsGpus && reason !== "no_home" ? null : await', "await", "G2"],
    ],
  },
  {
    file: "environments/time/rental-clock.ts",
    tests: ["environments/time/rental-clock", "environments/hosts/start-gpu-checks"],
    rows: [
      ["a later start is free until JupyterLab isReady", "- used)) as free", "+ 1e9)) as free", "a minute"],
      [
        "free minutes of a day are without end",
        "then free_seconds else 0 end",
        "then 0 else 0 end",
        "tenth free minute",
      ],
      [
        "what is left of the free minute is given away",
        "set expires_at = expires_at - ${left}",
        "set expires_at = expires_at",
        "isReady at once",
      ],
      ["the first start is billed", "if (row.created_at === null || (", "if ((", "first start is free"],
      [
        "the time of a repair is the owner's",
        "expires_at + (at - ${row.fault_since}::timestamptz)",
        "expires_at + interval '0'",
        "given back",
      ],
    ],
  },
  {
    file: "environments/reconciler/silence.ts",
    tests: ["environments/reconciler/silence"],
    rows: [
      [
        "a silent program is a failure of the machine",
        "(environments.fault_since is null",
        "(environments.fault_since is not null",
        "is stopped after ten",
      ],
      ["one other owner is enough", "leastOthers = 2", "leastOthers = 99", "several owners"],
      ["a machine that isReady others is blamed", "s.stage = 'ready'", "s.stage = 'never'", "the machine is well"],
      [
        "silence is paid back every time",
        "ended_reason = 'silent' limit 1",
        "ended_reason = 'never' limit 1",
        "by itself once",
      ],
    ],
  },
  {
    file: "environments/reconciler/work-lease.ts",
    tests: ["environments/reconciler/work-lease", "environments/reconciler/reconcile"],
    rows: [
      [
        "what has answered is given up",
        "created_at is null and first_attempt_at is not null and",
        "first_attempt_at is not null and",
        "answered in time",
      ],
    ],
  },
];
