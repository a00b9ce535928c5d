import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "It is settled";

async function setup() {
  const tenants = await testApp();
  const { db } = tenants;
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  const ada = await tenants.signUp();
  const ask = async (description: string): Promise<string> => {
    const ticket = { issueType: "other", description, userEmail: ada.email, userId: ada.id };
    const { ticketId: code } = await tenants.must("POST", "/support/tickets", ada.token, ticket);
    const { id } = await db
      .selectFrom("support_tickets")
      .select("id")
      .where("code", "=", code)
      .executeTakeFirstOrThrow();
    return id;
  };
  return {
    ...tenants,
    own,
    ada,
    ask,
    tickets: async (all = false) =>
      (await own.must("POST", "tickets/search", { all, page: 1 })).tickets.map(({ id }: { id: string }) => id),
    lastAct: async () => (await readAudit(db, { limit: 1 }))[0],
  };
}

test("G120 tickets are listed oldest first, answered by bell and mail, and closed, with the operator's reason in the audit", async () => {
  const { db, own, ada, ask, tickets, lastAct } = await setup();
  const [first, second] = [await ask("It does not start."), await ask("Thank you!")];
  expect(await tickets()).toEqual([first, second]);
  expect((await own.must("GET", "now")).waiting.tickets).toBe(2);
  const answered = await own.must("POST", `tickets/${first}/answer`, { text: " It runs again. ", reason });
  expect(answered.message).toMatch(/^BRT-\S+ is answered$/);
  const author = { actor: "operator:ada@berth.example", reason };
  expect(await lastAct()).toMatchObject({ ...author, act: "ticket.answer", subject_id: first });
  const bell = await db.selectFrom("notifications").select("body").where("cause", "like", "answer:%").execute();
  expect(bell).toEqual([{ body: "It runs again." }]);
  expect(await db.selectFrom("mails").select("recipient").where("cause", "like", "%answer:%").execute()).toEqual([
    { recipient: ada.email },
  ]);
  expect(await own.must("GET", `tickets/${first}`)).toMatchObject({
    ticket: { id: first, description: "It does not start.", answered_at: expect.any(String), closed_at: null },
    answers: [{ text: "It runs again." }],
    audit: [{ act: "ticket.answer", subject: first, reason }],
  });
  expect(await tickets()).toEqual([second]);
  await own.must("POST", `tickets/${second}/close`, { reason });
  expect(await lastAct()).toMatchObject({ ...author, act: "ticket.close", subject_id: second });
  expect([await tickets(), await tickets(true)]).toEqual([[], [second, first]]);
  expect((await own.must("GET", "now")).waiting.tickets).toBe(0);
});

test("G148 whom an announcement reaches is counted first; it is queued for the worker, with a reason in the audit", async () => {
  const { db, own, ada, signUp, lastAct } = await setup();
  await signUp("Ben");
  await db.insertInto("user_flags").values({ user_id: ada.id, email_notifications: false }).execute();
  const read = () => own.must("GET", "announcements");
  expect(await read()).toMatchObject({
    announcements: [],
    receivers: { all: { accounts: 2, mails: 1 }, renters: { accounts: 0, mails: 0 } },
  });
  const news = { title: " Maintenance ", text: "gpu-1 restarts.", audience: "all", by_mail: true, reason };
  expect((await own.must("POST", "announcements", news)).message).toBe(
    "On its way to 2 accounts, to 1 of them by mail too",
  );
  expect((await read()).announcements).toMatchObject([
    { title: "Maintenance", body: "gpu-1 restarts.", audience: "all", by_mail: true, notified: 0, is_done: false },
  ]);
  expect(await lastAct()).toMatchObject({
    ...{ act: "announcement.send", actor: "operator:ada@berth.example", reason },
    details: { audience: "all", users: 2, mail: true },
  });
});

test("G145 an act without a reason, without words, or on no ticket is refused, and nothing is written", async () => {
  const { own, ask, rows } = await setup();
  const id = await ask("It does not start.");
  const news = { title: "News", text: "Hello", audience: "all", by_mail: false };
  const { operator_sessions: _, ...before } = await rows();
  const refused = async (path: string, body: object) => {
    const reply = await own.call("POST", path, body);
    return [reply.statusCode, reply.json().message];
  };
  const noReason = [400, expect.stringMatching(/^This needs a reason/)];
  for (const given of ["", "  "]) {
    expect(await refused(`tickets/${id}/answer`, { text: "It runs.", reason: given })).toEqual(noReason);
    expect(await refused(`tickets/${id}/close`, { reason: given })).toEqual(noReason);
    expect(await refused("announcements", { ...news, reason: given })).toEqual(noReason);
  }
  expect(await refused(`tickets/${id}/answer`, { text: " ", reason })).toEqual([400, "An answer needs words"]);
  expect(await refused("announcements", { ...news, title: " ", reason })).toEqual([
    400,
    "The title of an announcement has 1 to 100 characters",
  ]);
  expect((await refused("announcements", { ...news, audience: "nobody", reason }))[0]).toBe(400);
  expect(await refused("announcements", { ...news, audience: "renters", reason })).toEqual([
    409,
    "Nobody would get it: nobody rents now",
  ]);
  for (const act of ["answer", "close"])
    expect((await refused(`tickets/${newId()}/${act}`, { text: "It runs.", reason }))[0]).toBe(404);
  const { operator_sessions: __, ...after } = await rows();
  expect(after).toEqual(before);
});
