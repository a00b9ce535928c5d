import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { purgeSamples } from "../environments/activity/samples.ts";
import { rent, setupEnvironments } from "../environments/testing/setup-environments.ts";
import { purgeSignIns } from "../gateway/principal/grants.ts";
import { purgeMails } from "../mail/outbox.ts";
import { purgeNotifications } from "../notifications/notifications.ts";

const ago = (interval: string) => sql<Date>`now() - ${interval}::interval`;

test("exactly the expired rows are deleted", async () => {
  const { db } = await setupEnvironments();
  const environment_id = await rent(db);
  const user_id = "user";
  await db.deleteFrom("notifications").execute();
  const mail = (cause: string) => ({
    ...{ id: newId(), cause, user_id, recipient: "a@b.example", subject: "", body_text: "", body_html: "" },
    useful_until: ago("0 s"),
  });
  await db
    .insertInto("mails")
    .values([
      { ...mail("old"), status: "sent", ended_at: ago("91 days") },
      { ...mail("recent"), status: "refused", ended_at: ago("89 days") },
      { ...mail("waiting"), created_at: ago("91 days") },
    ])
    .execute();
  const notice = (cause: string) => ({ id: newId(), user_id, cause, title: "", body: "" });
  await db
    .insertInto("notifications")
    .values([
      { ...notice("read"), read_at: ago("91 days") },
      { ...notice("just-read"), created_at: ago("91 days"), read_at: ago("1 day") },
      { ...notice("unread"), created_at: ago("364 days") },
      { ...notice("never-read"), created_at: ago("366 days") },
    ])
    .execute();
  const code = (hash: string, expires_at: ReturnType<typeof ago>) => ({
    ...{ hash: Buffer.from(hash), user_id, environment_id, expires_at },
  });
  await db
    .insertInto("sign_in_codes")
    .values([code("old", ago("25 hours")), code("live", ago("-30 s"))])
    .execute();
  await db
    .insertInto("grants")
    .values([
      { id: "revoked", user_id, environment_id, revoked_at: ago("25 hours") },
      { id: "lapsed", user_id, environment_id, created_at: ago("32 days") },
      { id: "live", user_id, environment_id, created_at: ago("29 days") },
    ])
    .execute();
  const used = (span_seconds: 60 | 600, at: ReturnType<typeof ago>) => ({
    ...{ environment_id, span_seconds, at, looks: 4, memory_mb: 90 },
  });
  const spans = [
    used(60, ago("25 hours")),
    used(60, ago("23 hours")),
    used(600, ago("31 days")),
    used(600, ago("29 days")),
  ];
  await db
    .insertInto("samples")
    .values(spans.map((span) => ({ ...span, cpu_cores: 1, home_mb: 1 })))
    .execute();
  await db
    .insertInto("gpu_samples")
    .values(spans.map((span) => ({ ...span, gpu_id: "gpu", use_percent: 1 })))
    .execute();

  for (const purge of [purgeMails, purgeNotifications, purgeSignIns, purgeSamples]) await purge(db);

  const causes = async (table: "mails" | "notifications") =>
    (await db.selectFrom(table).select("cause").orderBy("cause").execute()).map(({ cause }) => cause);
  expect(await causes("mails")).toEqual(["recent", "waiting"]);
  expect(await causes("notifications")).toEqual(["just-read", "unread"]);
  expect((await db.selectFrom("sign_in_codes").select("hash").execute()).map(({ hash }) => hash.toString())).toEqual([
    "live",
  ]);
  expect(await db.selectFrom("grants").select("id").execute()).toEqual([{ id: "live" }]);
  for (const table of ["samples", "gpu_samples"] as const) {
    const hours = sql<number>`floor(extract(epoch from now() - at) / 3600)`.as("hours");
    const left = await db.selectFrom(table).select(["span_seconds", hours]).orderBy("at").execute();
    expect(left, table).toEqual([
      { span_seconds: 600 as const, hours: 29 * 24 },
      { span_seconds: 60 as const, hours: 23 },
    ]);
  }
});
