import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import type { Announce } from "../../environments/notice.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { writeNotice } from "../../notifications/notifications.ts";
import { sendAnnouncement } from "./send-announcement.ts";
import { batchLength, startAnnouncing } from "./start-announcing.ts";

const accounts = 2 * batchLength + 1;
const news = { title: "Maintenance", text: "gpu-1 restarts.", audience: "all", byMail: true } as const;
const author = { actor: "cli:test", reason: "" };

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await sql`insert into identity_user (id, email, email_key)
    select 'u' || lpad(n::text, 4, '0'), n || '@uni.example', n || '@uni.example' from generate_series(1, ${accounts}) n`.execute(
    db,
  );
  const { log, errors } = recordLog();
  const start = (announce: Announce) => {
    const loop = startAnnouncing({ db, announce, log });
    onTestFinished(loop.stop);
    return loop;
  };
  const row = () => db.selectFrom("announcements").selectAll().executeTakeFirstOrThrow();
  const dueNow = () => sql`update announcements set due_at = now() where due_at is not null`.execute(db);
  return { db, start, row, dueNow, errors };
}

const write: Announce = async (tx, notice) => void (await writeNotice(tx, notice));

test("G148 an announcement goes out in batches, each in a transaction of its own, and nobody is notified twice after a crash", async () => {
  const { db, start, row, dueNow, errors } = await setup();
  expect(await sendAnnouncement(db, news, author)).toEqual({ accounts, mails: 0 });
  const seen = new Map<string, number>();
  const transactions = new Set<string>();
  const broken = { once: true };
  const loop = start(async (tx, notice) => {
    const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(tx);
    if (seen.size === batchLength + 5 && broken.once) {
      broken.once = false;
      throw new Error("the power went");
    }
    transactions.add(String(rows[0]?.id));
    seen.set(notice.userId, (seen.get(notice.userId) ?? 0) + 1);
    await write(tx, notice);
  });
  // The pauses between batches with mails, and after a failure, are taken away.
  await expect
    .poll(async () => {
      await dueNow();
      loop.trigger();
      return (await row()).due_at;
    })
    .toBeNull();
  expect(await row()).toMatchObject({ notified: accounts, last_user: "", attempts: 0, last_error: null });
  const { rows } = await sql<{ users: number; all: number }>`
    select count(distinct user_id)::int as users, count(*)::int as all from notifications`.execute(db);
  expect(rows).toEqual([{ users: accounts, all: accounts }]);
  expect(transactions.size, "three batches, one of them twice").toBe(4);
  expect(errors).toHaveLength(1);
});

test("accounts that are made later get no announcement, and a second worker sends none twice", async () => {
  const { db, start, row } = await setup();
  await sendAnnouncement(db, { ...news, byMail: false }, author);
  await sql`insert into identity_user (id, email, email_key, created_at) values ('z', 'z@uni.example', 'z@uni.example', now() + interval '1 s')`.execute(
    db,
  );
  start(write);
  start(write);
  await expect.poll(async () => (await row()).due_at).toBeNull();
  expect((await row()).notified).toBe(accounts);
  expect(await db.selectFrom("notifications").select("id").where("user_id", "=", "z").execute()).toEqual([]);
});
