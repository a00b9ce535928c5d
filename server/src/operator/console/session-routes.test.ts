import { sql } from "kysely";
import { expect, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { codeOf } from "../../testing/factor-code.ts";
import { addOperator, listOperators, resetOperator } from "../accounts/add-operator.ts";
import { cli, testConsole } from "./testing/test-console.ts";

test("G144 a link sets password and second factor up, signs in, and works once", async () => {
  const { db, enrol, browser } = await testConsole();
  const ada = await enrol();
  expect(ada.recoveryCodes).toHaveLength(10);
  expect((await ada.must("GET", "session")).email).toBe("ada@berth.example");
  const again = await ada.call("POST", "link/open", { link: ada.link });
  expect([again.statusCode, again.json().message]).toEqual([
    409,
    expect.stringMatching(/^This link was used before\./),
  ]);
  const spent = await ada.call("POST", "link/spend", { link: ada.link, password: "another password", code: "" });
  expect(spent.json().message).toMatch(/used before/);
  const unknown = await browser().call("POST", "link/open", { link: "nothing" });
  expect([unknown.statusCode, unknown.json().message]).toEqual([404, expect.stringMatching(/^This link is not known/)]);
  expect(await listOperators(db)).toMatchObject([{ email: ada.email, state: "ready", second_factor: true }]);
  expect((await readAudit(db, { limit: 9 })).map(({ act, actor }) => [act, actor])).toEqual([
    ["operator.set_up", "operator:ada@berth.example"],
    ["operator.add", "cli:test"],
  ]);
});

test("G144 a link belongs to the browser and the address that opened it first", async () => {
  const { db, browser } = await testConsole();
  const link = await addOperator(db, "ada@berth.example", cli);
  const first = browser("192.0.2.1");
  const { second_factor } = await first.must("POST", "link/open", { link });
  expect((await first.must("POST", "link/open", { link })).second_factor.secret).toBe(second_factor.secret);
  const other = await browser("192.0.2.1").call("POST", "link/open", { link });
  expect([other.statusCode, other.json().message]).toEqual([403, expect.stringMatching(/in another browser first/)]);
  const moved = browser("192.0.2.2");
  for (const [name, value] of first.cookies) moved.cookies.set(name, value);
  const body = { link, password: "good password 1", code: codeOf(second_factor.secret) };
  const elsewhere = await moved.call("POST", "link/spend", body);
  expect([elsewhere.statusCode, elsewhere.json().message]).toEqual([
    403,
    expect.stringMatching(/from another address/),
  ]);
  await first.must("POST", "link/spend", body);
});

test("G144 a link ends after 24 hours, and with a reset", async () => {
  const { db, browser } = await testConsole();
  const link = await addOperator(db, "ada@berth.example", cli);
  await sql`update operator_links set expires_at = now()`.execute(db);
  const late = await browser().call("POST", "link/open", { link });
  expect([late.statusCode, late.json().message]).toEqual([
    409,
    expect.stringMatching(/^This link is older than 24 hours/),
  ]);
  expect(await listOperators(db)).toMatchObject([{ state: "link expired" }]);
  const second = await resetOperator(db, "Ada@Berth.example", cli);
  expect((await browser().call("POST", "link/open", { link })).statusCode).toBe(404);
  const own = browser();
  const { second_factor } = await own.must("POST", "link/open", { link: second });
  const weak = { link: second, password: "short", code: codeOf(second_factor.secret) };
  expect((await own.call("POST", "link/spend", weak)).json().code).toBe("weak_password");
  const wrong = { link: second, password: "good password 1", code: "000000x" };
  expect((await own.call("POST", "link/spend", wrong)).json().code).toBe("wrong_password");
  await own.must("POST", "link/spend", { ...wrong, code: codeOf(second_factor.secret) });
});

test("a sign-in needs password and code; a code of the app works once, and a recovery code too", async () => {
  const { enrol, browser } = await testConsole({ env: { SIGN_INS_PER_MINUTE: "100" } });
  const { email, password, secret: factor, recoveryCodes } = await enrol();
  const own = browser();
  const signIn = (code: string, change: object = {}) =>
    own.call("POST", "session", { email, password, code, ...change });
  expect((await signIn("", { password: "wrong" })).json()).toMatchObject({ code: "wrong_password" });
  expect((await signIn("", { email: "eve@berth.example" })).json()).toMatchObject({ code: "wrong_password" });
  expect((await signIn("")).json()).toEqual({ status: "success", signed_in: false });
  expect((await own.call("GET", "session")).statusCode).toBe(401);
  expect((await signIn(codeOf(factor))).json().message, "used by the link").toMatch(/used before/);
  const next = codeOf(factor, 1);
  expect((await signIn(next)).json()).toEqual({ status: "success", signed_in: true });
  expect((await signIn(next)).json().message).toMatch(/used before/);
  const [recovery = ""] = recoveryCodes;
  expect((await signIn(recovery.toUpperCase())).json()).toEqual({ status: "success", signed_in: true });
  expect((await signIn(recovery)).json().code).toBe("wrong_password");
});

test("sign-ins are limited for each account and network", async () => {
  const { enrol, browser } = await testConsole({ env: { SIGN_INS_PER_MINUTE: "3" } });
  const { email } = await enrol();
  const own = browser();
  const codes: string[] = [];
  for (let n = 0; n < 4; n += 1)
    codes.push((await own.call("POST", "session", { email, password: "wrong", code: "" })).json().code);
  expect(codes).toEqual(["wrong_password", "wrong_password", "wrong_password", "rate_limited"]);
});

test("guesses of the second factor are limited over sign-ins, browsers, networks and processes, with the right password", async () => {
  const one = await testConsole();
  const two = await testConsole({ db: one.db });
  const { email, password, secret: factor } = await one.enrol();
  const valid = [-1, 0, 1].map((step) => codeOf(factor, step));
  let next = 0;
  const wrong = (): string => {
    const code = String(next++).padStart(6, "0");
    return valid.includes(code) ? wrong() : code;
  };
  const statusOf = async (console: typeof one, address: string, code: string) =>
    (await console.browser(address).call("POST", "session", { email, password, code })).statusCode;
  // As the page does, each guess asks for the code first: that counts too.
  for (let n = 0; n < 5; n += 1) {
    expect(await statusOf(one, "203.0.113.9", "")).toBe(200);
    expect(await statusOf(two, "203.0.113.9", wrong())).toBe(400);
  }
  expect(await statusOf(one, "203.0.113.9", wrong())).toBe(429);
  expect(await statusOf(one, "198.51.100.1", wrong())).toBe(400);
  // A hundred in a row for an account, from anywhere: 11 of them till now.
  await sql`update attempt_windows set count = 97 where count = 11`.execute(one.db);
  const guesses = await Promise.all(
    Array.from({ length: 6 }, (_, n) => statusOf(n % 2 === 0 ? one : two, `198.51.101.${n}`, wrong())),
  );
  expect(guesses.sort()).toEqual([400, 400, 400, 429, 429, 429]);
  const late = await two.browser("198.51.102.1").call("POST", "session", { email, password, code: wrong() });
  expect(Number(late.headers["retry-after"])).toBeGreaterThan(80_000);
});

test("others on an operator's network use up neither the tries nor the requests of a browser that signed in before", async () => {
  const { enrol, browser } = await testConsole({ env: { SIGN_INS_PER_MINUTE: "3", OPERATOR_SECOND_FACTOR: "false" } });
  const own = await enrol();
  const { email, password } = own;
  await own.must("DELETE", "session", {});
  // As a notebook on the same loopback.
  const neighbour = browser();
  const guess = (by: typeof neighbour, text = "wrong") =>
    by.call("POST", "session", { email, password: text, code: "" });
  for (let n = 0; n < 3; n += 1) expect((await guess(neighbour)).statusCode).toBe(400);
  expect((await guess(neighbour, password)).statusCode).toBe(429);
  expect((await guess(own, password)).json()).toMatchObject({ signed_in: true });
  // Each account's own: it helps with no other one.
  const other = await enrol("bob@berth.example");
  other.cookies.set("operator-browser", own.cookies.get("operator-browser") ?? "");
  const asBob = (by: typeof neighbour) =>
    by.call("POST", "session", { email: "bob@berth.example", password: "wrong", code: "" });
  for (let n = 0; n < 3; n += 1) expect((await asBob(neighbour)).statusCode).toBe(400);
  expect((await asBob(other)).statusCode).toBe(429);
});

test("requests to another host count for nobody, and a browser that signed in before counts alone", async () => {
  const { enrol, browser } = await testConsole();
  const own = await enrol();
  const neighbour = browser();
  const page = (by: typeof neighbour, headers = {}) =>
    by.call("GET", "/", undefined, headers).then((each) => each.statusCode);
  for (let n = 0; n < 601; n += 1) expect(await page(neighbour, { host: "wrong.example" })).toBe(421);
  expect(await page(neighbour)).toBe(303);
  neighbour.cookies.set("operator-browser", "a.b.c");
  for (let n = 0; n < 601; n += 1) await page(neighbour);
  expect(await page(neighbour)).toBe(429);
  expect(await page(own)).toBe(303);
  expect((await own.must("GET", "session")).email).toBe(own.email);
});

test("on loopback a second factor may be left out; where it is needed, such an account has no way in", async () => {
  const open = await testConsole({ env: { OPERATOR_SECOND_FACTOR: "false" } });
  const { email, password, recoveryCodes } = await open.enrol();
  expect(recoveryCodes).toEqual([]);
  const body = { email, password, code: "" };
  expect((await open.browser().must("POST", "session", body)).signed_in).toBe(true);
  const strict = await testConsole({ db: open.db });
  const refused = await strict.browser().call("POST", "session", body);
  expect([refused.statusCode, refused.json().message]).toEqual([409, expect.stringMatching(/has no second factor/)]);
});
