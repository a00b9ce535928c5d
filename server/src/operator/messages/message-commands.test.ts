import { expect, test } from "vitest";
import { strictLog } from "../../logging/testing/record-log.ts";
import { announcer } from "../../notifications/announcer.ts";
import { appUrl, testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";
import { startAnnouncing } from "./start-announcing.ts";

async function setup() {
  const product = await testApp();
  const { db } = product;
  const run = await commandRunner(db);
  /** Runs the command and the worker's part; returns what the command says. */
  const announce = async (...args: string[]) => {
    const { stdout } = await run("announce", ...args);
    const loop = startAnnouncing({ db, announce: announcer({ appUrl, brandName: "Berth" }), log: strictLog() });
    const open = () => db.selectFrom("announcements").select("id").where("due_at", "is not", null).execute();
    await expect.poll(open).toEqual([]);
    await loop.stop();
    return stdout;
  };
  const mails = async () =>
    await product.db.selectFrom("mails").select(["recipient", "subject", "body_text"]).orderBy("recipient").execute();
  return { ...product, run, mails, announce };
}

test("a ticket is listed, shown and answered by bell and mail; then it is no longer open", async () => {
  const { db, run, signUp, must, mails } = await setup();
  const ada = await signUp();
  const description = "It does not start.\u001b[2J";
  const ticket = { issueType: "other", description, userEmail: ada.email, userId: ada.id };
  const { ticketId: code } = await must("POST", "/support/tickets", ada.token, ticket);
  expect((await run("tickets")).stdout).toContain("It does not start. [2J");
  expect(await run("tickets", "answer", code, " ")).toMatchObject({ code: 1, stderr: "An answer needs words" });
  expect(await run("tickets", "answer", code, "It runs", "again.")).toMatchObject({
    code: 0,
    stdout: `${code} is answered`,
  });
  expect(await mails()).toEqual([
    { recipient: ada.email, subject: `An answer to ${code}`, body_text: expect.stringContaining("It runs again.") },
  ]);
  expect((await must("GET", "/notifications", ada.token)).notifications[0]).toMatchObject({
    title: `An answer to ${code}`,
    body: "It runs again.",
  });
  expect((await run("tickets")).stdout).toBe("There is no such ticket");
  expect(JSON.parse((await run("tickets", "--all", "--json")).stdout)).toMatchObject([
    { code, answered_at: expect.any(String) },
  ]);
  expect((await run("tickets", "show", code)).stdout).toMatch(/It does not start\. \[2J\nanswered .*: It runs again\./);
  expect((await must("GET", `/profile/${ada.id}/export`, ada.token)).ticket_answers).toMatchObject([
    { text: "It runs again." },
  ]);
  expect(await run("tickets", "show", "BRT-x")).toMatchObject({ code: 1 });
  expect(await db.selectFrom("audit").select("act").execute()).toEqual([{ act: "ticket.answer" }]);
});

test("a ticket is closed with a reason and nobody is notified; more than a page of tickets says so", async () => {
  const { db, run, signUp, mails } = await setup();
  const { id: user_id, email } = await signUp();
  await db.deleteFrom("mails").execute();
  const rows = Array.from({ length: 51 }, (_, n) => ({
    ...{ id: `t${n}`, code: `BRT-${n}`, user_id, email, issue_type: "other", description: "x" },
    created_at: new Date(Date.UTC(2026, 0, 1, 0, n)),
  }));
  await db.insertInto("support_tickets").values(rows).execute();
  const close = (...more: string[]) => run("tickets", "close", "BRT-0", ...more);
  expect(await close()).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect((await run("tickets")).stdout).toMatch(/BRT-0 [\s\S]*\n\n1 to 50 of 51 shown; --page 2 goes on$/);
  expect((await run("tickets", "--page", "2")).stdout).toMatch(/BRT-50 [\s\S]*\n\n51 to 51 of 51 shown$/);
  expect(await close("--reason", "In the chat")).toMatchObject({ stdout: "BRT-0 is closed" });
  expect(await close("--reason", "In the chat")).toMatchObject({ stdout: "BRT-0 is closed already" });
  expect((await run("tickets")).stdout).not.toMatch(/BRT-0 |shown/);
  expect((await run("tickets", "show", "BRT-0")).stdout).toMatch(/\nclosed 2/);
  expect(await mails()).toEqual([]);
  expect(await db.selectFrom("audit").select(["act", "subject_id", "reason"]).execute()).toEqual([
    { act: "ticket.close", subject_id: "t0", reason: "In the chat" },
  ]);
});

test("an announcement reaches everybody or who rents now, by bell, and with --mail by mail as the flags say; not suspended accounts", async () => {
  const { db, run, signUp, rent, deliver, mails, announce } = await setup();
  const stop = deliver();
  expect(await run("announce", "Hello")).toMatchObject({
    ...{ code: 1, stderr: "Nobody would get it: there is no account yet" },
  });
  const [ada, ben, eve] = [await signUp("Ada"), await signUp("Ben"), await signUp("Eve")];
  expect(await run("announce", "Hello", "--to", "renters")).toMatchObject({
    ...{ code: 1, stderr: "Nobody would get it: nobody rents now" },
  });
  await rent(ada, { gpu_count: 1 });
  await stop();
  await run("users", "suspend", eve.id, "--now", "--reason", "Scans");
  await db.deleteFrom("mails").execute();
  const bells = async () =>
    (await db.selectFrom("notifications").select(["user_id", "title"]).where("cause", "like", "news:%").execute()).map(
      ({ user_id, title }) => `${user_id} ${title}`,
    );
  expect(await announce("Hello", "--to", "renters", "--title", "One")).toBe("On its way to 1 account");
  expect([await bells(), await mails()]).toEqual([[`${ada.id} One`], []]);
  await db.insertInto("user_flags").values({ user_id: ben.id, email_notifications: false }).execute();
  expect(await announce("gpu-1 restarts", "--title", "Two", "--mail")).toBe(
    "On its way to 2 accounts, to 1 of them by mail too",
  );
  expect((await bells()).toSorted()).toEqual([`${ada.id} One`, `${ada.id} Two`, `${ben.id} Two`].toSorted());
  expect(await mails()).toMatchObject([{ recipient: ada.email, subject: "Two" }]);
  expect(await run("announce", "Hello", "--to", "nobody")).toMatchObject({
    code: 2,
    stderr: "nobody is not an audience.",
  });
  expect(await run("announce", " ")).toMatchObject({ code: 1, stderr: /^The text of an announcement has 1 to 2000/ });
  const acts = await db
    .selectFrom("audit")
    .select(["act", "details"])
    .where("act", "=", "announcement.send")
    .orderBy("id")
    .execute();
  expect(acts.map(({ details }) => details)).toEqual([
    { audience: "renters", users: 1, mail: false },
    { audience: "all", users: 2, mail: true },
  ]);
});
