// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the mutants are source text

import type { FaultsOf } from "./mutants-of.ts";

/** The queue for GPUs, reservations, and GPUs that fail or are released. */
export const queueMutants: readonly FaultsOf[] = [
  {
    file: "environments/queue/serve-queue.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      ["last come, first served", "order by place for update", "order by place desc for update", "first come"],
      [
        "a declined reservation stays held",
        '  for (const { id } of queue.filter(({ lapsed }) => lapsed)) await closeEntry(tx, id, "lapsed");\n',
        "",
        "goes to the next",
      ],
      [
        "a reservation lapses before its notification",
        "status = 'held' and told_at is not null and held_until <= now() as lapsed",
        "status = 'held' and held_until <= now() as lapsed",
        "goes to the next",
      ],
      ["a large request blocks small ones", "gpuCount >= unservable ||", "unservable < 99 ||", "pass a big one"],
      [
        "a large request waits forever",
        "const machine = reserved ? undefined : await machineToReserve(tx, id, gpuCount);",
        "const machine = undefined as Machine | undefined;",
        "pass a big one",
      ],
      ["a host is reserved however long it idles", " and free_at - now() <= now() - q.asked_at", "", "pass a big one"],
      [
        "every waiting user gets a reserved host",
        "reserved ? undefined : await machineToReserve",
        "await machineToReserve",
        "beside a reserved host",
      ],
      [
        "a reserved host serves the next user",
        "(await reserve(tx, id, gpuCount, reserved))",
        "(await reserve(tx, id, gpuCount, undefined))",
        "pass a big one",
      ],
      [
        "any user can take a reservation",
        "id = any(${ownEntryIds(queue, userId)}) and q.status = 'held'",
        "id = any(${queue.map(({ id }) => id)}) and q.status = 'held'",
        "goes to the order",
      ],
      [
        "a reservation serves a larger order",
        " and q.gpu_count >= ${gpuCount} group by",
        " group by",
        "gets as many GPUs",
      ],
      [
        "the rest of a reservation stays held",
        '  await releaseLeases(tx, "queue", reservation.id);\n',
        "",
        "goes to the order",
      ],
      [
        "a lapsed reservation is restored",
        "and status = 'taken' and held_until > now()",
        "and status = 'taken'",
        "goes to the order",
      ],
      [
        "a user served with more GPUs keeps waiting",
        "in ('waiting', 'held') and gpu_count <= ${gpuCount} returning id",
        "in ('waiting', 'held') and gpu_count = ${gpuCount} returning id",
        "gets as many GPUs",
      ],
      [
        "a lapsed reservation keeps its GPUs",
        "where id = ${id} and status in ('waiting', 'held')`.execute(tx);\n  await releaseLeases(tx, \"queue\", id);\n",
        "where id = ${id} and status in ('waiting', 'held')`.execute(tx);\n",
        "leaving frees",
      ],
    ],
  },
  {
    file: "environments/queue/join-queue.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      [
        "joining again loses the position",
        "    if (own.some((each) => each.gpuCount === gpuCount && !each.lapsed)) return;\n",
        "",
        "one entry for each user",
      ],
      [
        "more GPUs than any machine has can be queued for",
        "!(await freeTimes(tx)).some((time) => time.gpuCount === gpuCount)",
        "false",
        "one entry for each user",
      ],
      [
        "another count keeps the position",
        '    for (const { id } of own) await closeEntry(tx, id, "left");\n',
        "",
        "one entry for each user",
      ],
      [
        "free GPUs wait for the loop",
        "  await db.transaction().execute(async (tx) => void (await serveQueue(tx, await lockQueue(tx))));\n",
        "",
        "comes at once",
      ],
      [
        "leaving keeps the position",
        '  for (const { id } of rows) await closeEntry(tx, id, "left");\n',
        "",
        "one entry for each user",
      ],
      ["positions start at 0", "position: index + 1", "position: index", "first come"],
      ["the queue ahead is ignored", "queue.slice(0, index + 1)", "queue.slice(index, index + 1)", "first come"],
    ],
  },
  {
    file: "environments/queue/process-queue.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      [
        "a reservation is announced repeatedly and never lapses",
        "where id = any(${held}) and told_at is null returning",
        "where id = any(${held}) returning",
        "first come",
      ],
      [
        "the ten minutes do not start at the notification",
        "set told_at = now(), held_until = now() + make_interval(mins => ${reservationMinutes})\n",
        "set told_at = now()\n",
        "goes to the next",
      ],
    ],
  },
  {
    file: "environments/allocation/hold.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      [
        "free GPUs are sold before the queue is served",
        "await serveQueue(tx, queue)",
        "undefined as Awaited<ReturnType<typeof serveQueue>>",
        "not leased past",
      ],
      [
        "a reserved host is sold to another user",
        "reserved?.userId === userId ? undefined : reserved",
        "undefined",
        "pass a big one",
      ],
      ["an unpaid order keeps the reservation", "  await restoreReservation(tx, orderId);\n", "", "goes to the order"],
    ],
  },
  {
    file: "environments/hosts/start-gpu-checks.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      ["two failed checks replace a run", "const mostFailures = 3;", "const mostFailures = 2;", "two failed checks"],
      [
        "failures of another run count",
        "before?.generation === row.generation ? before",
        "before ? before",
        "two failed checks",
      ],
      [
        "broken GPUs get endless runs",
        "const isBroken = row.faultyGeneration !== null;",
        "const isBroken = false;",
        "GPUs fail too",
      ],
    ],
  },
  {
    file: "environments/hosts/gpu-faults.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      [
        "unresponsive GPUs are leased again",
        "    await quarantine(tx, new Map(leases",
        "    void (new Map(leases",
        "GPUs fail too",
      ],
      [
        "a recovered run stays suspect",
        "set faulty_generation = null where",
        "set faulty_generation = faulty_generation where",
        "time is credited",
      ],
    ],
  },
  {
    file: "environments/reconciler/status/write-status.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      [
        "a stop during a repair is billed",
        'fault_since !== null && (fault === false || status === "stopped")',
        "fault_since !== null && fault === false",
        "stops it meanwhile",
      ],
    ],
  },
  {
    file: "environments/reconciler/status/write-status.ts",
    tests: ["environments/reconciler/leftover-processes"],
    rows: [
      [
        "GPUs with leftover memory are leased again",
        "  if (update.leftovers) await quarantine(tx, update.leftovers);\n",
        "",
        "quarantined, not leased",
      ],
    ],
  },
  {
    file: "environments/reconciler/leftover-processes.ts",
    tests: ["environments/reconciler/leftover-processes"],
    rows: [
      [
        "an unchecked GPU counts as clean",
        "new Map(ids.map((id) => [id, String(error)]))",
        "(void error, new Map<string, string>())",
        "cannot be checked is",
      ],
      [
        "memory that is being freed quarantines a GPU",
        "leftovers.size === 0 || performance.now() >= until",
        "true",
        "in time",
      ],
    ],
  },
];
