// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is planted is source text

import type { FaultsOf } from "./mutants-of.ts";

/** Who waits for GPUs and whose turn it is, and what becomes of GPUs that fail or are given back. */
export const lineFaults: readonly FaultsOf[] = [
  {
    file: "environments/queue/serve-queue.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      ["last come, first served", "order by place for update", "order by place desc for update", "first come"],
      [
        "a turn that was let pass stays held",
        '  for (const { id } of queue.filter(({ lapsed }) => lapsed)) await closeEntry(tx, id, "lapsed");\n',
        "",
        "goes to the next",
      ],
      [
        "a turn lapses that nobody was told of",
        "status = 'held' and told_at is not null and held_until <= now() as lapsed",
        "status = 'held' and held_until <= now() as lapsed",
        "goes to the next",
      ],
      [
        "a big request holds up the small ones",
        "gpuCount >= unservable ||",
        "unservable < 99 ||",
        "is passed at first",
      ],
      [
        "a big request waits for ever",
        "const hostId = reserved ? undefined : await hostToReserve(tx, id, gpuCount);",
        "const hostId = undefined as string | undefined;",
        "is passed at first",
      ],
      ["a host is kept however long it idles", " and free_at - now() <= now() - q.asked_at", "", "is passed at first"],
      [
        "everybody who waits has a host kept",
        "reserved ? undefined : await hostToReserve",
        "await hostToReserve",
        "beside a kept host",
      ],
      [
        "what is kept for one is given to the next",
        "(await reserve(tx, id, gpuCount, reserved?.hostId))",
        "(await reserve(tx, id, gpuCount, undefined))",
        "is passed at first",
      ],
      [
        "anybody takes a turn",
        "id = any(${ownEntryIds(queue, userId)}) and q.status = 'held'",
        "id = any(${queue.map(({ id }) => id)}) and q.status = 'held'",
        "becomes the order's",
      ],
      [
        "a turn serves an order for more than it holds",
        " and q.gpu_count >= ${gpuCount} group by",
        " group by",
        "as much or more",
      ],
      [
        "the rest of a turn stays held",
        '  await releaseLeases(tx, "queue", reservation.id);\n',
        "",
        "becomes the order's",
      ],
      [
        "an unpaid turn comes back after its end",
        "and status = 'taken' and held_until > now()",
        "and status = 'taken'",
        "becomes the order's",
      ],
      [
        "who has got more waits on",
        "in ('waiting', 'held') and gpu_count <= ${gpuCount} returning id",
        "in ('waiting', 'held') and gpu_count = ${gpuCount} returning id",
        "as much or more",
      ],
      [
        "a turn that is over keeps its GPUs",
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
        "whoever asks again goes to the end",
        "    if (own.some((each) => each.gpuCount === gpuCount && !each.lapsed)) return;\n",
        "",
        "one place for each",
      ],
      [
        "one waits for what no machine has",
        "!(await freeTimes(tx)).some((time) => time.gpuCount === gpuCount)",
        "false",
        "one place for each",
      ],
      [
        "another count is not another place",
        '    for (const { id } of own) await closeEntry(tx, id, "left");\n',
        "",
        "one place for each",
      ],
      [
        "what is free waits for the loop",
        "  await db.transaction().execute(async (tx) => void (await serveQueue(tx, await lockQueue(tx))));\n",
        "",
        "comes at once",
      ],
      [
        "whoever leaves keeps the place",
        '  for (const { id } of rows) await closeEntry(tx, id, "left");\n',
        "",
        "one place for each",
      ],
      ["places are counted from 0", "position: index + 1", "position: index", "first come"],
      ["nobody is before anybody", "queue.slice(0, index + 1)", "queue.slice(index, index + 1)", "first come"],
    ],
  },
  {
    file: "environments/queue/process-queue.ts",
    tests: ["environments/queue/join-queue"],
    rows: [
      [
        "a turn is told of again and again, and never ends",
        "where id = any(${held}) and told_at is null returning",
        "where id = any(${held}) returning",
        "first come",
      ],
      [
        "the ten minutes run before anybody knows",
        "set told_at = now(), held_until = now() + make_interval(mins => ${turnMinutes})\n",
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
        "what is free is sold past the line",
        "queue.length > 0 ? await serveQueue(tx, queue) : undefined",
        "undefined as Awaited<ReturnType<typeof serveQueue>>",
        "not sold past",
      ],
      [
        "what is kept for one is sold to another",
        "reserved?.userId === userId ? undefined : reserved?.hostId",
        "undefined",
        "is passed at first",
      ],
      ["an unpaid order keeps the turn", "  await restoreReservation(tx, orderId);\n", "", "becomes the order's"],
    ],
  },
  {
    file: "environments/hosts/start-gpu-checks.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      ["two looks are enough to give a run up", "const mostFailures = 3;", "const mostFailures = 2;", "two that fail"],
      [
        "failures of another run count",
        "before?.generation === row.generation ? before",
        "before ? before",
        "two that fail",
      ],
      [
        "broken GPUs get one run after the other",
        "const isBroken = row.faultyGeneration !== null;",
        "const isBroken = false;",
        "do not answer either",
      ],
    ],
  },
  {
    file: "environments/hosts/gpu-faults.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      [
        "GPUs that do not answer are leased again",
        "    await quarantine(tx, new Map(leases",
        "    void (new Map(leases",
        "do not answer either",
      ],
      [
        "a run whose GPUs answer again is suspected for ever",
        "set faulty_generation = null where",
        "set faulty_generation = faulty_generation where",
        "given back",
      ],
    ],
  },
  {
    file: "environments/reconciler/write-status.ts",
    tests: ["environments/hosts/start-gpu-checks"],
    rows: [
      [
        "whoever stops during a repair pays for it",
        'fault_since !== null && (fault === false || status === "stopped")',
        "fault_since !== null && fault === false",
        "stops it meanwhile",
      ],
    ],
  },
  {
    file: "environments/reconciler/write-status.ts",
    tests: ["environments/reconciler/leftover-processes"],
    rows: [
      [
        "GPUs with another's memory are leased again",
        "  if (update.leftovers) await quarantine(tx, update.leftovers);\n",
        "",
        "put aside, not leased",
      ],
    ],
  },
  {
    file: "environments/reconciler/leftover-processes.ts",
    tests: ["environments/reconciler/leftover-processes"],
    rows: [
      [
        "what nobody could look at counts as clean",
        "new Map(ids.map((id) => [id, String(error)]))",
        "(void error, new Map<string, string>())",
        "nobody can tell",
      ],
      [
        "memory that is just going is a reason",
        "leftovers.size === 0 || performance.now() >= until",
        "true",
        "in time",
      ],
    ],
  },
];
