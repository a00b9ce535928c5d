import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { addOrder } from "../environments/testing/setup-environments.ts";
import { readSources } from "./database-source.ts";
import { queueSource } from "./queue-source.ts";

const provider = { kind: "embedded", mode: "embedded", keyId: "key" } as const;
const folder = fileURLToPath(new URL("..", import.meta.url));

async function setup(sendsMail = true) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const read = async () => {
    const samples = await readSources(database.db, [queueSource({ provider, sendsMail, hasHostedAccounts: false })]);
    const due = samples.filter(({ name, value }) => name === "berth_queue_due_rows" && value > 0);
    return Object.fromEntries(due.map(({ labels, value }) => [labels["queue"], value]));
  };
  return { db: database.db, read, addOrder: () => addOrder(database.db, order()) };
}

let orders = 0;
const order = () => ({ userId: `u${orders}`, subdomain: `lab-${orders++}`, gpuCount: 1, durationHours: 1 });

test("every work queue of the product has its figures", async () => {
  const { db } = await setup();
  const used = globSync("**/*.ts", { cwd: folder, exclude: ["**/*.test.ts"] }).flatMap((path) =>
    [...readFileSync(`${folder}${path}`, "utf8").matchAll(/workQueue\("(\w+)"/g)].map(([, table]) => table),
  );
  const { sql: text } = queueSource({ provider, sendsMail: true, hasHostedAccounts: true }).rows.compile(db);
  const counted = [...text.matchAll(/ from "(\w+)" where greatest/g)].map(([, table]) => table);
  expect(used.length).toBeGreaterThan(7);
  expect(new Set(counted)).toEqual(new Set(used));
});

test("a due row is backlog; one that is leased, not due yet, over, or of other keys is not", async () => {
  const { db, read, addOrder } = await setup();
  const [due, leased, later, over, others] = [
    await addOrder(),
    await addOrder(),
    await addOrder(),
    await addOrder(),
    await addOrder(),
  ];
  await sql`update orders set due_at = now() - interval '10 minutes'`.execute(db);
  await sql`update orders set lease_token = gen_random_uuid(), lease_expires_at = now() + interval '1 minute' where id = ${leased}`.execute(
    db,
  );
  await sql`update orders set due_at = now() + interval '1 minute' where id = ${later}`.execute(db);
  await sql`update orders set status = 'fulfilled', due_at = null where id = ${over}`.execute(db);
  await sql`update orders set mode = 'test' where id = ${others}`.execute(db);
  expect(await read()).toEqual({ orders_paid: 1 });
  await sql`update orders set due_at = now() + interval '1 minute' where id = ${due}`.execute(db);
  expect(await read()).toEqual({});
});

test("mails are no backlog where no mail server is set", async () => {
  const mail = sql`insert into mails (id, cause, user_id, recipient, subject, body_text, body_html, useful_until)
    values ('m', 'm', 'ada', 'ada@uni.example', 's', 't', 'h', now() + interval '1 day')`;
  for (const sendsMail of [true, false]) {
    const { db, read } = await setup(sendsMail);
    await mail.execute(db);
    expect(await read()).toEqual(sendsMail ? { mails: 1 } : {});
  }
});
