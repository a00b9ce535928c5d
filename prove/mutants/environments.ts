// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** Environments: launch, actions, status, clock. */
export const environmentMutants: readonly FaultsOf[] = [
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
        "a launch gets fewer GPUs than paid for",
        "!host_id || leases.length !== gpuCount",
        "!host_id",
        "keeps its hold",
      ],
      [
        "the leases keep the order as holder",
        "set holder_kind = 'environment', holder_id = ${id}, hold_until = null",
        "set hold_until = null",
        "C18",
      ],
      [
        "the name reservation of a running environment lapses",
        "set held_until = null, retained_until = null",
        "set retained_until = null",
        "keeps its hold",
      ],
      ["two owners of a name share its home", "`${userId}\\0${subdomain}`", "subdomain", "two successive owners"],
      ["an extension finds no environment", 'extended === null ? "order_id" : "id"', '"order_id"', "hours are added"],
    ],
  },
  {
    file: "environments/time/extend.ts",
    tests: ["payments/orders/place-extension"],
    rows: [
      [
        "an ending environment is extended",
        " and desired <> 'terminated' and status <> 'terminated'\n",
        "\n",
        "ended before",
      ],
      [
        "an expired environment is extended",
        "      and (expires_at > now() or (expires_at is null and banked_seconds > 0)) returning id",
        " returning id",
        "ended before",
      ],
      [
        "hours for a stopped environment are lost",
        "banked_seconds + ${hours * 3600} else",
        "banked_seconds + 0 else",
        "banked",
      ],
      [
        "a refund does not shorten the rental",
        "expires_at - make_interval(secs => ${seconds})",
        "expires_at",
        "ends that much earlier",
      ],
    ],
  },
  {
    file: "environments/lock-owned.ts",
    tests: ["environments/api/environment-routes"],
    rows: [
      [
        "anybody may act on an environment",
        "where id = ${id} and user_id = ${userId} for update",
        "where id = ${id} for update",
        "same reply as an absent",
      ],
    ],
  },
  {
    file: "environments/api/environment-actions.ts",
    tests: ["environments/api/environment-actions", "payments/settlement/settle-payment"],
    rows: [
      [
        "a ready environment can be cancelled and refunded",
        "row.created_at !== null || row.desired",
        "row.desired",
        "G75",
      ],
      ["a restart without GPUs succeeds", "if (!leased) throw", "if (false) throw", "leases before"],
    ],
  },
  {
    file: "environments/reconciler/status/write-status.ts",
    tests: ["environments/reconciler/reconcile", "payments/settlement/lost-machine"],
    rows: [
      [
        "a result is written although desired has changed",
        "if (!(await finish(tx, environmentQueue, row, values, sql`desired = ${row.desired}`))) throw",
        "if (!(await finish(tx, environmentQueue, row, values))) throw",
      ],
      [
        "a refunded environment becomes active",
        '(await delivery.delivered(tx, environment)) ?? "not_delivered"',
        "(await delivery.delivered(tx, environment)) ?? { bonusHours: 0 }",
        "no longer waits",
      ],
      [
        "the used time is refunded instead of the unused",
        "expires_at.getTime() - fault_since.getTime()",
        "fault_since.getTime() - expires_at.getTime()",
        "fails for ten",
      ],
      [
        "a cancellation is reported as a failure",
        'return reason === "cancelled" || reason === "silent" ? reason : "not_delivered"',
        'return "not_delivered"',
        "owes once",
      ],
    ],
  },
  {
    file: "environments/reconciler/status/on-status-change.ts",
    tests: ["environments/reconciler/reconcile"],
    rows: [
      [
        "an ended environment keeps its GPUs",
        '  await revokeGrants(tx, row.id);\n  await releaseLeases(tx, "environment", row.id);\n',
        "  await revokeGrants(tx, row.id);\n",
        "expiry by the",
      ],
      [
        "bonus hours are announced and not added",
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
      [
        "monthly plans bank their time when stopped",
        'keepsGpus && reason !== "no_home" && reason !== "suspended" ? null : await',
        "await",
        "G2",
      ],
    ],
  },
  {
    file: "environments/time/rental-clock.ts",
    tests: ["environments/time/rental-clock", "environments/hosts/start-gpu-checks"],
    rows: [
      ["a later start is free until it is ready", "- used)) as free", "+ 1e9)) as free", "a minute"],
      ["free minutes per day are unlimited", "then free_seconds else 0 end", "then 0 else 0 end", "tenth free minute"],
      [
        "the rest of the free minute is not billed",
        "set expires_at = expires_at - ${left}",
        "set expires_at = expires_at",
        "ready at once",
      ],
      ["the first start is billed", "if (row.created_at === null || (", "if ((", "first start is free"],
      [
        "the time of a repair is billed",
        "expires_at + (at - ${row.fault_since}::timestamptz)",
        "expires_at + interval '0'",
        "time is credited",
      ],
    ],
  },
  {
    file: "environments/reconciler/silence.ts",
    tests: ["environments/reconciler/silence"],
    rows: [
      [
        "a silent JupyterLab counts as a hardware failure",
        "(environments.fault_since is null",
        "(environments.fault_since is not null",
        "is stopped after ten",
      ],
      ["the number of other owners is ignored", "leastOthers = 2", "leastOthers = 99", "several owners"],
      [
        "a machine with other ready environments is blamed",
        "s.stage = 'ready'",
        "s.stage = 'never'",
        "the machine is well",
      ],
      [
        "silence is refunded every time",
        "ended_reason = 'silent' limit 1",
        "ended_reason = 'never' limit 1",
        "refunded automatically",
      ],
    ],
  },
  {
    file: "environments/reconciler/work-lease.ts",
    tests: ["environments/reconciler/work-lease", "environments/reconciler/reconcile"],
    rows: [
      [
        "a ready environment is given up",
        "created_at is null and first_attempt_at is not null and",
        "first_attempt_at is not null and",
        "ready in time",
      ],
    ],
  },
];
