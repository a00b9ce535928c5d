import { expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup() {
  const product = await testApp();
  const run = await commandRunner(product.db);
  const mails = async () =>
    await product.db.selectFrom("mails").select(["recipient", "subject", "body_text"]).orderBy("recipient").execute();
  return { ...product, run, mails };
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

test("an announcement reaches everybody or who rents now, by bell, and with --mail by mail as the flags say; not suspended accounts", async () => {
  const { db, run, signUp, rent, deliver, mails } = await setup();
  const stop = deliver();
  const [ada, ben, eve] = [await signUp("Ada"), await signUp("Ben"), await signUp("Eve")];
  await rent(ada, { gpu_count: 1 });
  await stop();
  await run("users", "suspend", eve.id, "--now", "--reason", "Scans");
  await db.deleteFrom("mails").execute();
  const bells = async () =>
    (await db.selectFrom("notifications").select(["user_id", "title"]).where("cause", "like", "news:%").execute()).map(
      ({ user_id, title }) => `${user_id} ${title}`,
    );
  expect(await run("announce", "Hello", "--to", "renters", "--title", "One")).toMatchObject({
    stdout: "1 accounts are told",
  });
  expect([await bells(), await mails()]).toEqual([[`${ada.id} One`], []]);
  await db.insertInto("user_flags").values({ user_id: ben.id, email_notifications: false }).execute();
  expect((await run("announce", "gpu-1 restarts", "--title", "Two", "--mail")).stdout).toBe(
    "2 accounts are told, by mail too where they want it",
  );
  expect((await bells()).toSorted()).toEqual([`${ada.id} One`, `${ada.id} Two`, `${ben.id} Two`].toSorted());
  expect(await mails()).toMatchObject([{ recipient: ada.email, subject: "Two" }]);
  expect(await run("announce", "Hello", "--to", "nobody")).toMatchObject({
    code: 2,
    stderr: "nobody is not an audience.",
  });
  expect(await run("announce", " ")).toMatchObject({ code: 1 });
  const acts = await db
    .selectFrom("audit")
    .select(["act", "details"])
    .where("act", "=", "announcement.send")
    .orderBy("id")
    .execute();
  expect(acts.map(({ details }) => details)).toEqual([
    { audience: "renters", users: 1 },
    { audience: "all", users: 2 },
  ]);
});
