import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "../database/embedded/embedded.ts";
import { testDatabase } from "../database/testing.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { dataFolder, start } from "../testing/server-process.ts";
import { databaseUrl, operator, operatorProcess } from "./testing/run-operator.ts";

test.each([
  { typed: ["--help"], has: ["-- doctor [--json]", "-- refund ORDER", "-- hosts lost HOST [--yes]"] },
  { typed: ["doctor", "--help"], has: ["-- doctor [--json]"], lacks: "refund" },
  { typed: ["refunds", "--help"], has: ["-- refunds --json", "-- refunds calculate order_"], lacks: "refund ORDER" },
  { typed: ["hosts", "add", "--help"], has: ["[--home-root FOLDER] [--reach ADDRESS]"], lacks: "drain" },
  { typed: ["gpus", "-h"], has: ["-- gpus list", "-- gpus release GPU"], lacks: "hosts" },
])("$typed prints its usage and exits with 0", async ({ typed, has, lacks = "wrong" }) => {
  const { code, stdout, stderr } = await operator(typed);
  expect([code, stderr]).toEqual([0, ""]);
  for (const words of has) expect(stdout).toContain(words);
  expect(stdout).not.toContain(lacks);
});

test.each([
  { typed: [], wrong: "No command is given.", usage: "-- doctor [--json]" },
  { typed: ["docter"], wrong: "There is no command docter.", usage: "-- doctor [--json]" },
  { typed: ["hosts"], wrong: "hosts needs a subcommand.", usage: "-- hosts list" },
  { typed: ["hosts", "fly"], wrong: "There is no command hosts fly.", usage: "-- hosts list" },
  { typed: ["doctor", "--jsn"], wrong: "Unknown option '--jsn'.", usage: "-- doctor [--json]" },
  { typed: ["doctor", "now"], wrong: "doctor does not take now.", usage: "-- doctor [--json]" },
  { typed: ["refunds", "--jason"], wrong: "Unknown option '--jason'.", usage: "-- refunds" },
  { typed: ["unflag"], wrong: "unflag lacks USER.", usage: "-- unflag USER" },
  { typed: ["hosts", "add", "a", "ssh://b@c", "--reach"], wrong: "Option '--reach <value>' argument missing." },
  { typed: ["gpus", "quarantine", "GPU-1"], wrong: "gpus quarantine lacks WORDS." },
  { typed: ["prepare", "julia"], wrong: "There is no type julia." },
])("$typed is refused in one sentence, followed by its usage", async ({ typed, wrong, usage = `-- ${typed[0]}` }) => {
  const { code, stdout, stderr } = await operator(typed);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(new RegExp(`^${wrong.replace(/[?.]/g, "\\$&")}\n\n`));
  expect(stderr).toContain(usage);
});

test("as a process it prints and ends the same: with the codes of success and of a wrong command", async () => {
  const help = await operator(["--help"]);
  expect(await operatorProcess(["--help"])).toEqual(help);
  expect(await operatorProcess(["docter"])).toEqual(await operator(["docter"]));
});

test("a stopped server is reported in one sentence, with its own database and with an external one", async () => {
  const DATA_DIR = dataFolder();
  const { child, url, ended } = start({ DATA_DIR });
  await url();
  child.kill("SIGTERM");
  await ended;
  expect(await operator(["doctor"], { DATA_DIR })).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: `The database in ${DATA_DIR}/database is not running: start the server of this data folder, then retry.\n`,
  });
  const DATABASE_URL = "postgres://berth:hidden@127.0.0.1:9/berth";
  expect(await operator(["gpus", "list"], { DATABASE_URL })).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: "The database of DATABASE_URL cannot be reached: connect ECONNREFUSED 127.0.0.1:9\n",
  });
});

test("a server whose database does not answer is not reported as stopped", async () => {
  const DATA_DIR = dataFolder();
  const embedded = { directory: join(DATA_DIR, "database"), fsync: false, connections: 8, log: silentLogger };
  const { connection, stop } = await startEmbedded(embedded);
  onTestFinished(stop);
  const taken = Array.from({ length: 8 }, () => new Client(connection));
  onTestFinished(async () => void (await Promise.allSettled(taken.map((client) => client.end()))));
  const connected = await Promise.allSettled(taken.map((client) => client.connect()));
  expect(connected.map(({ status }) => status)).toContain("rejected");
  const said = `The database of ${DATA_DIR} runs, and does not answer. Look at the server's log and at the disk: `;
  for (const typed of [["doctor"], ["firewall"]])
    expect(await operator(typed, { DATA_DIR })).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
}, 60_000);

test("unflag of an account without a hold fails with a message", async () => {
  const database = await testDatabase();
  onTestFinished(database.close);
  expect(await operator(["unflag", "zz"], { DATABASE_URL: await databaseUrl(database.db) })).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: "No account zz was stopped for a lost dispute; doctor names those that are.\n",
  });
});
