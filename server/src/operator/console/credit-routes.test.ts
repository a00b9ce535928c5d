import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { testConsole } from "./testing/test-console.ts";

const reason = "Sorry for Monday";
const kind = { hours: 10, gpus: 2, count: 3, per_month: 2, last_day: "2999-06-30", reason: "Course ML 101" };

async function setup() {
  const tenants = await testApp();
  const { db } = tenants;
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  return {
    ...tenants,
    own,
    ada: await tenants.signUp(),
    listed: () => own.must("GET", "credits"),
    /** The message of an act that is done. */
    done: async (path: string, body: object = { reason }) => (await own.must("POST", path, body)).message,
    /** Status and sentence of one that is refused. */
    async refused(path: string, body: object = { reason }) {
      const reply = await own.call("POST", path, body);
      return [reply.statusCode, reply.json().message];
    },
    acts: async () => (await readAudit(db, { limit: 9 })).map(({ act }) => act).toReversed(),
  };
}

test("G153 a credit is granted with a reason that its owner reads, is listed, and is revoked once", async () => {
  const { db, own, ada, must, listed, done, acts } = await setup();
  expect(await done(`people/${ada.id}/credit`, { hours: 10, gpus: 2, reason })).toBe(
    "20 GPU-hours are granted; the owner is notified",
  );
  const credit = { user_id: ada.id, email: ada.email, gpu_hours: 20, source: "operator", note: reason };
  const { credits } = await listed();
  expect(credits).toEqual([
    { ...credit, id: expect.any(String), granted_at: expect.any(String), state: "open", used_by_order: null },
  ]);
  expect((await own.must("GET", `people/${ada.id}`)).credits).toEqual(credits);
  expect((await must("GET", "/credits", ada.token)).credits).toMatchObject([{ gpu_hours: 20, note: reason }]);
  const { id } = credits[0];
  expect(await done(`credits/${id}/revoke`)).toBe("The credit is revoked; its owner is notified");
  expect(await done(`credits/${id}/revoke`)).toBe("It was revoked before");
  expect((await listed()).credits).toEqual([]);
  expect((await own.must("GET", `people/${ada.id}`)).credits).toMatchObject([{ id, state: "revoked" }]);
  expect((await acts()).slice(2)).toEqual(["credit.grant", "credit.revoke"]);
  expect((await readAudit(db, { limit: 1 }))[0]).toMatchObject({ actor: "operator:ada@berth.example", reason });
});

test("a credit that an order has used is named with it, and is not revoked", async () => {
  const { own, ada, rent, deliver, done, refused } = await setup();
  const stop = deliver();
  await done(`people/${ada.id}/credit`, { hours: 1, gpus: 1, reason });
  await rent(ada, { gpu_count: 1 });
  await stop();
  const [used] = (await own.must("GET", `people/${ada.id}`)).credits;
  expect(used).toMatchObject({ state: "used", used_by_order: expect.any(String) });
  const [status, message] = await refused(`credits/${used.id}/revoke`);
  expect([status, message]).toEqual([409, expect.stringContaining(`was used by the order ${used.used_by_order}`)]);
});

test("G155 G156 codes are returned once, counted by their kind, and revoked one by one or all", async () => {
  const { db, own, ada, must, listed, done, refused, acts } = await setup();
  const { id, codes, message } = await own.must("POST", "vouchers", kind);
  expect([message, new Set(codes).size]).toEqual(["3 codes of 20 GPU-hours", 3]);
  await must("POST", "/vouchers/redeem", ada.token, { code: codes[0] });
  expect(await refused("vouchers/revoke", { voucher: codes[0], reason })).toEqual([
    409,
    expect.stringMatching(/^It is redeemed/),
  ]);
  expect(await done("vouchers/revoke", { voucher: ` ${codes[1].toLowerCase()} `, reason })).toBe("1 code is void now");
  const counted = { id, gpu_hours: 20, codes: 3, redeemed: 1, per_month: 2, reason: "Course ML 101" };
  const shown = await listed();
  expect(shown.vouchers).toMatchObject([{ ...counted, revoked: 1, expires_at: "2999-07-01T00:00:00.000Z" }]);
  expect(shown.credits).toMatchObject([{ source: "voucher", note: "Course ML 101" }]);
  expect(await done("vouchers/revoke", { voucher: id, reason })).toBe("1 code is void now");
  expect(await done("vouchers/revoke", { voucher: id, reason })).toBe("That was revoked before");
  expect((await acts()).slice(2)).toEqual(["voucher.create", "voucher.revoke", "voucher.revoke"]);
  const kept = JSON.stringify([await listed(), await readAudit(db, { limit: 9 })]);
  for (const code of codes) expect(kept).not.toContain(code);
});

test("G145 an act without a reason, on nobody or with figures that cannot be is refused, and nothing is written", async () => {
  const { own, ada, rows, refused } = await setup();
  const grant = { hours: 1, gpus: 1, reason };
  const { operator_sessions: _, ...before } = await rows();
  const needsReason = [400, expect.stringMatching(/^This needs a reason/)];
  expect(await refused(`people/${ada.id}/credit`, { ...grant, reason: " " })).toEqual(needsReason);
  expect(await refused("vouchers", { ...kind, reason: "" })).toEqual(needsReason);
  expect(await refused(`credits/${newId()}/revoke`, { reason: "" })).toEqual(needsReason);
  expect(await refused("vouchers/revoke", { voucher: newId(), reason: "" })).toEqual(needsReason);
  const status = async (path: string, body: object) => (await own.call("POST", path, body)).statusCode;
  for (const wrong of [{ hours: 0 }, { hours: 1.5 }, { hours: 1001 }, { gpus: 0 }, { gpus: 65 }])
    expect(await status(`people/${ada.id}/credit`, { ...grant, ...wrong }), JSON.stringify(wrong)).toBe(400);
  for (const wrong of [{ count: 1001 }, { per_month: 0 }, { last_day: "2020-01-01" }, { last_day: "soon" }])
    expect(await status("vouchers", { ...kind, ...wrong }), JSON.stringify(wrong)).toBe(400);
  expect(await status(`people/${newId()}/credit`, grant)).toBe(404);
  expect(await status(`credits/${newId()}/revoke`, { reason })).toBe(404);
  expect(await status("vouchers/revoke", { voucher: "AAAAA-AAAAA-AAAAA-AAAAA", reason })).toBe(404);
  const { operator_sessions: __, ...after } = await rows();
  expect(after).toEqual(before);
});
