import { plural, type SamplePoint, statuses } from "@berth/contract";
import type { Config } from "../../config/config.ts";
import { type Command, type Options, usage } from "../parse-command.ts";
import { printNewest } from "../print-page.ts";
import { type Columns, printJson, tableOf } from "../print-rows.ts";
import { announcerOf, authorOf, withDatabase } from "../with-database.ts";
import { type EnvironmentSummary, readEnvironments, showEnvironment } from "./read-environments.ts";
import { stopEnvironment, terminateEnvironment } from "./stop-environment.ts";

/** Environments, from the outside: never their files, logs or secrets. */
export const environmentCommands: readonly Command[] = [
  {
    name: "environments",
    args: [],
    options: { status: statuses.join(" | "), host: "HOST", before: "ID", json: "" },
    about: "lists environments that have not ended, or those of a status or a host",
    example: "environments --status active --host gpu-1",
    run: list,
  },
  {
    name: "environment",
    args: ["ID | NAME"],
    options: { json: "" },
    about: "shows an environment: owner, GPUs, what it uses now, orders, sessions, and what operators did",
    example: "environment my-lab",
    run: show,
  },
  {
    name: "environments stop",
    args: ["ID"],
    options: { reason: "TEXT" },
    about: "stops a running environment; its owner reads the reason and can start it again",
    example: "environments stop a1b2c3d4e5f6g7h8j9k0m1n2p --reason 'Its disk is full'",
    run: stop,
  },
  {
    name: "environments terminate",
    args: ["ID"],
    options: { reason: "TEXT", "no-refund": "" },
    about: "ends an environment; its unused time is paid back, unless the terms forbid what it did",
    example: "environments terminate a1b2c3d4e5f6g7h8j9k0m1n2p --reason 'Crypto mining' --no-refund",
    run: terminate,
  },
];

type Args = readonly string[];

const columns: Columns<EnvironmentSummary> = {
  id: ({ id }) => id,
  name: ({ subdomain }) => subdomain,
  status: ({ status, desired }) => (desired === "terminated" && status !== desired ? `${status}, ending` : status),
  type: ({ container_type }) => container_type,
  gpus: ({ gpu_count }) => gpu_count,
  host: ({ host_id }) => host_id,
  owner: ({ email, user_id }) => email ?? user_id,
  ready: ({ created_at }) => created_at,
  expires: ({ expires_at }) => expires_at,
  error: ({ last_error }) => last_error,
};

const environmentsShown = 100;

async function list(config: Config, _: Args, options: Options): Promise<void> {
  const { status, host } = options;
  if (status !== undefined && !statuses.some((known) => known === status)) return usage(`${status} is not a status.`);
  const filter = { status, host, limit: environmentsShown + 1, before: options["before"] };
  const rows = await withDatabase(config, (db) => readEnvironments(db, filter));
  printNewest(rows, columns, options, {
    ...{ none: "No environment is listed here: none was rented, or all have ended", limit: environmentsShown },
    more: ({ id }) => `--before ${id}`,
  });
}

async function show(config: Config, [id = ""]: Args, { json }: Options): Promise<void> {
  const found = await withDatabase(config, (db) => showEnvironment(db, id));
  if (json !== undefined) return void printJson(found);
  const { gpus, usage, stages, orders, sessions, restarts, audit, ...facts } = found;
  const rows = Object.entries({ ...facts, gpus: gpus.join(" ") });
  console.log(
    tableOf(rows, {
      fact: ([key]) => key,
      value: ([, value]) => (value instanceof Date ? value : String(value ?? "-")),
    }),
  );
  console.log(usageText(usage));
  for (const { stage, at } of stages) console.log(`stage ${stage} ${at}`);
  for (const { id: order, status, duration_hours } of orders)
    console.log(`order ${order} ${status}, ${plural(duration_hours, "hour")}`);
  for (const { id: session, opened_at, closed_at, reason } of sessions)
    console.log(
      `session ${session} from ${opened_at.toISOString()} to ${closed_at?.toISOString() ?? "now"} ${reason ?? ""}`,
    );
  for (const { created_at, title, body } of restarts)
    console.log(`told its owner ${created_at.toISOString()} ${title}. ${body}`);
  for (const { at, actor, act, reason } of audit) console.log(`${at.toISOString()} ${actor} ${act}: ${reason}`);
}

/** What its owner sees in the chart of its page: the last minute of the last hour that was measured. */
function usageText(usage: SamplePoint | null): string {
  if (!usage) return "usage nothing was measured in the last hour: it does not run, or it began just now";
  const { at, cpu_cores, memory_mb, home_mb, gpus } = usage;
  const each = gpus.map(
    (gpu) => `, ${gpu.id} at ${Math.round(gpu.use_percent)} % with ${Math.round(gpu.memory_mb)} MB`,
  );
  return `usage in the minute of ${at} ${cpu_cores.toFixed(2)} cores, ${Math.round(memory_mb)} MB of memory, ${Math.round(home_mb)} MB of files${each.join("")}`;
}

async function stop(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const announce = announcerOf(config);
  const isNew = await withDatabase(config, (db) => stopEnvironment({ db, announce }, id, authorOf(options)));
  console.log(isNew ? `${id} stops; its owner is notified` : `${id} is stopped already`);
}

async function terminate(config: Config, [id = ""]: Args, options: Options): Promise<void> {
  const announce = announcerOf(config);
  const refund = options["no-refund"] === undefined;
  const isNew = await withDatabase(config, (db) =>
    terminateEnvironment({ db, announce }, id, refund, authorOf(options)),
  );
  const money = refund ? "its unused time is paid back" : "nothing is paid back";
  console.log(isNew ? `${id} ends; ${money}, and its owner is notified` : `${id} ends already`);
}
