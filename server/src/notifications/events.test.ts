import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { recordLook } from "../environments/activity/done-notice.ts";
import { announceDeletions } from "../environments/homes/apply-retention.ts";
import { changeFlags } from "../identity/flags.ts";
import { refundPayment } from "../payments/refunds/create-refund.ts";
import { delivery } from "../payments/settlement/delivery.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import {
  account,
  announce,
  clear,
  type Event,
  idleFor,
  later,
  leave,
  paid,
  password,
  quietFor,
  rented,
} from "./testing/prepare-events.ts";

const time = String.raw`\w{3} \d+, \d{4}, \d+:\d\d [AP]M UTC`;

const events: readonly Event[] = [
  {
    name: "launch ready",
    flag: "emailNotifications",
    cause: /^ready:/,
    title: /^my-lab is ready$/,
    body: /^JupyterLab answers\. Its time runs from now on\.$/,
    link: "/environments/ID",
    async happen(flagOff) {
      const { db, id, reach, pass } = await rented(flagOff);
      await reach(id, "active");
      return { db, again: pass };
    },
  },
  ...(
    [
      [86_000, "24 hours", "24h"],
      [3500, "1 hour", "1h"],
      [500, "10 minutes", "10m"],
    ] as const
  ).map(
    ([seconds, words, name]): Event => ({
      name: `${words} before the end`,
      flag: "emailNotifications",
      cause: new RegExp(`^expires:\\w+:.*:${name}$`),
      title: new RegExp(`^my-lab ends in less than ${words}$`),
      body: new RegExp(`^Its time is over on ${time}\\. Save what you need`),
      link: "/environments/ID?extend=ID",
      happen: later(leave(seconds)),
    }),
  ),
  {
    name: "expired",
    flag: "emailNotifications",
    cause: /^ended:/,
    title: /^my-lab has ended$/,
    body: /^Its time is over\. Its files are kept for 30 days/,
    link: "/environments/ID",
    async happen(flagOff) {
      const { db, id, reach, pass } = await rented(flagOff);
      await reach(id, "active");
      await clear(db);
      await leave(-1).execute(db);
      await reach(id, "terminated");
      return { db, again: pass };
    },
  },
  {
    name: "idle, ten minutes before it stops",
    flag: "emailNotifications",
    cause: /^idle:\w+:/,
    title: /^my-lab is idle and stops in 10 minutes$/,
    body: new RegExp(`^Nothing has been done in it since ${time}\\. It stops on ${time} unless something runs before`),
    link: "/environments/ID",
    happen: later(idleFor(51)),
  },
  {
    name: "stopped because it was idle",
    flag: "emailNotifications",
    cause: /^idle-stopped:\w+:1$/,
    title: /^my-lab was stopped because it was idle$/,
    body: /^Its files are kept, what was in memory is gone\. Its clock stands still: 1d 23h are kept for the next start\.$/,
    link: "/environments/ID",
    async happen(flagOff) {
      const { db, id, reach, pass } = await rented(flagOff);
      await reach(id, "active");
      await clear(db);
      await idleFor(61).execute(db);
      await sql`update environments set idle_stop_at = now() - interval '31 seconds'`.execute(db);
      await reach(id, "stopped");
      return { db, again: pass };
    },
  },
  ...(
    [
      ["notify", "", "It stays as it is and its clock goes on\\. On its page you can stop it\\."],
      ["stop", ", so it stops", "Its files are kept, what was in memory is gone\\. Its clock stands still, .*"],
    ] as const
  ).map(
    ([mode, stops, then]): Event => ({
      name: `nothing runs any more: ${mode} (G360)`,
      flag: "emailNotifications",
      cause: /^done:\w+:/,
      title: new RegExp(`^Nothing runs any more in my-lab${stops}$`),
      body: new RegExp(`^No cell, no program and no load since ${time}\\. ${then}$`),
      link: "/environments/ID",
      async happen(flagOff) {
        const { db, id, reach } = await rented(flagOff);
        await reach(id, "active");
        await clear(db);
        await quietFor(31, mode).execute(db);
        const look = () => recordLook(db, announce, { id, generation: 1, look: "nothing" });
        await look();
        return { db, again: look };
      },
    }),
  ),
  {
    name: "24 hours before a session rolls over (G22)",
    flag: "emailNotifications",
    cause: /^session:\w+:24h$/,
    title: /^my-lab: a new session begins within 24 hours$/,
    body: /^A session lasts 168 hours at most\. .* nothing is interrupted\.$/,
    link: "/environments/ID",
    happen: later(
      sql`with rented as (update environments set created_at = now() - interval '145 hours')
        update sessions set opened_at = now() - interval '145 hours'`,
      720,
    ),
  },
  {
    name: "a home is about to be deleted (P5, G31)",
    flag: "emailNotifications",
    cause: /^home:my-lab:/,
    title: /^The files of my-lab will be deleted$/,
    body: new RegExp(
      `^They are kept until ${time}\\. To keep them, launch an environment named my-lab before then\\.$`,
    ),
    link: "/environments/create?subdomain=my-lab",
    async happen(flagOff) {
      const { db, id, reach, want, deps } = await rented(flagOff);
      await reach(id, "active");
      await want(id, "terminated");
      await reach(id, "terminated");
      await clear(db);
      await announceDeletions(deps);
      expect(await db.selectFrom("notifications").select("id").execute(), "thirty days before").toEqual([]);
      await sql`update homes set delete_at = now() + interval '71 hours'`.execute(db);
      await announceDeletions(deps);
      return { db, again: () => announceDeletions(deps) };
    },
  },
  {
    name: "bonus hours (G15)",
    flag: "emailNotifications",
    cause: /^bonus:/,
    title: /^2 hours added$/,
    body: /^my-lab took longer than ten minutes, so it runs 2 hours more than you paid for\.$/,
    link: "/billing/orders/ID",
    async happen(flagOff) {
      const { db, orderId } = await paid(flagOff);
      await sql`update orders set deliver_by = now() - interval '1 second'`.execute(db);
      const deliver = () =>
        db.transaction().execute((tx) => delivery({ announce }).delivered(tx, { id: newId(), orderId, userId: "ada" }));
      await deliver();
      return { db, again: deliver };
    },
  },
  {
    name: "refund started (G16)",
    flag: "billingAlerts",
    cause: /^refund:/,
    title: /^Refund started$/,
    body: /^You cancelled the launch\. \$0\.75 is on its way back to your card; banks take 4-5 business days\.$/,
    link: "/billing/orders/ID",
    async happen(flagOff) {
      const { db, payment } = await paid(flagOff);
      const ask = () => db.transaction().execute((tx) => refundPayment(tx, payment, "cancelled", announce));
      await ask();
      return { db, again: ask };
    },
  },
  {
    name: "refund arrived (G16)",
    flag: "billingAlerts",
    cause: /^refunded:/,
    title: /^Refund sent$/,
    body: /^\$0\.75 left us for your card.* Banks take 4-5 business days\.$/,
    link: "/billing/orders/ID",
    async happen(flagOff) {
      const { db, payment, paymentId, provider, payments, runRefundSender, refundsOf } = await paid(flagOff);
      await db.transaction().execute((tx) => refundPayment(tx, payment, "cancelled", announce));
      await clear(db);
      runRefundSender();
      await expect.poll(async () => (await refundsOf())[0]?.status).toBe("processed");
      return { db, again: async () => settlePayment(payments, await provider.payment(paymentId)) };
    },
  },
  {
    name: "a part refunded in the provider's dashboard",
    flag: "billingAlerts",
    cause: /^refunded:/,
    title: /^Refund sent$/,
    body: /^\$0\.25 left us for your card\. Banks take 4-5 business days\.$/,
    link: "/billing/orders/ID",
    async happen(flagOff) {
      const { db, paymentId, provider, payments } = await paid(flagOff);
      await provider.refund({ paymentId, amountMinor: 25, key: "the-dashboard-1", notes: {} });
      const look = async () => settlePayment(payments, await provider.payment(paymentId));
      await look();
      return { db, again: look };
    },
  },
  {
    name: "password changed",
    flag: "securityAlerts",
    cause: /^password-changed:/,
    title: /^Your password was changed$/,
    body: /^Every other sign-in has ended\. If it was not you, reset the password now and write to us\.$/,
    link: "/settings?tab=password",
    happen: password(false),
  },
  {
    name: "password reset",
    flag: "securityAlerts",
    cause: /^password-changed:/,
    title: /^Your password was changed$/,
    body: /^Every other sign-in has ended\./,
    link: "/settings?tab=password",
    happen: password(true),
  },
  {
    name: "account suspended (G109)",
    flag: "always",
    cause: /^suspended:/,
    title: /^Your account is suspended$/,
    body: /^Every sign-in has ended\. Write to us if you think that this is a mistake\.$/,
    link: "",
    async happen(flagOff) {
      const { db, identity, uid } = await account(flagOff);
      await identity.updateUser(uid, { disabled: true });
      return { db, again: () => identity.updateUser(uid, { disabled: true }) };
    },
  },
];

for (const { name, flag, happen, cause, title, body, link } of events)
  test.each([true, false])(`${name}: by bell, and by mail as ${flag} says, %s`, async (on) => {
    const { db, again } = await happen(async (database, userId) => {
      await database
        .insertInto("profiles")
        .values({ user_id: userId, email: "ada@uni.example", name: "Ada" })
        .execute();
      await changeFlags(database, userId, { emailNotifications: false, billingAlerts: false, securityAlerts: false });
      if (flag !== "always") await changeFlags(database, userId, { [flag]: on });
    });
    for (const _ of [1, 2]) {
      const notices = await db.selectFrom("notifications").selectAll().execute();
      expect(notices).toHaveLength(1);
      const [notice] = notices;
      expect(notice?.cause).toMatch(cause);
      expect(notice?.title).toMatch(title);
      expect(notice?.body).toMatch(body);
      const to = notice?.link ?? "";
      expect(to.replace(/[0-9a-z]{25}\b/g, "ID")).toBe(link);
      const mails = await db.selectFrom("mails").selectAll().execute();
      const isMailed = on || flag === "always";
      expect(mails).toHaveLength(isMailed ? 1 : 0);
      if (isMailed) {
        expect(mails[0]).toMatchObject({ recipient: "ada@uni.example", subject: notice?.title });
        expect(mails[0]?.body_text).toContain(notice?.body);
        // A suspended account cannot open the app.
        if (to) expect(mails[0]?.body_text).toContain(`https://berth.example${to}`);
      }
      await again();
    }
  });
