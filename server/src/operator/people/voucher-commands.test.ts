import { sql } from "kysely";
import { expect, test } from "vitest";
import { type TestUser, testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup(env: Record<string, string> = {}) {
  const product = await testApp(env);
  const { db, call } = product;
  const run = await commandRunner(db);
  return {
    ...product,
    run,
    /** Makes codes of one kind. */
    async create(...options: string[]) {
      const made = await run("vouchers", "create", "--hours", "10", "--reason", "Course", "--json", ...options);
      expect(made.code, made.stderr).toBe(0);
      return JSON.parse(made.stdout) as { id: string; codes: [string, ...string[]] };
    },
    /** The status, and the message of a refusal or the GPU-hours. */
    async redeem({ token }: TestUser, code: string) {
      const reply = await call("POST", "/vouchers/redeem", token, { code });
      return [reply.statusCode, reply.json().message ?? reply.json().credit.gpu_hours];
    },
    credits: () => db.selectFrom("granted_credits").select(["user_id", "gpu_hours"]).execute(),
  };
}

const used = "This code is used: another account has redeemed it";
const unknown = "There is no such code. Check each letter: a code has four groups of five";

test("G155 a code is redeemed once, by one account, however it is typed; to another account it says that it is used", async () => {
  const { signUp, create, redeem, credits, must, db } = await setup();
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  const [code] = (await create("--gpus", "2")).codes;
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/);
  expect(
    await redeem(ada, ` ${code.toLowerCase().replaceAll("-", " ").replaceAll("0", "O").replaceAll("1", "l")}`),
  ).toEqual([200, 20]);
  expect(await redeem(ada, code), "a lost reply").toEqual([200, 20]);
  expect(await redeem(ben, code)).toEqual([409, used]);
  for (const wrong of ["AAAAA-AAAAA-AAAAA-AAAAA", "x", `${code}0`, "u".repeat(20), "ß".repeat(20)])
    expect(await redeem(ben, wrong), wrong).toEqual([404, unknown]);
  expect(await credits()).toEqual([{ user_id: ada.id, gpu_hours: 20 }]);
  expect((await must("GET", "/credits", ada.token)).credits).toMatchObject([{ gpu_hours: 20, source: "voucher" }]);
  const stored = await sql<{
    row: string;
  }>`select v::text || b::text as row from vouchers v, voucher_batches b`.execute(db);
  expect(JSON.stringify(stored.rows)).not.toContain(code.slice(0, 5));
});

test("G155 two accounts and two requests at once: a code brings one credit", async () => {
  const { signUp, create, redeem, credits, db } = await setup();
  const users = [await signUp("Ada"), await signUp("Ben")];
  const [code] = (await create()).codes;
  const requests = [...users, ...users, ...users];
  const waiting = () =>
    sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      .execute(db)
      .then(({ rows }) => rows.length);
  // All have read the code before the first may redeem it.
  const sent = await db.transaction().execute(async (tx) => {
    await sql`select 1 from vouchers for update`.execute(tx);
    const replies = Promise.all(requests.map((user) => redeem(user, code)));
    await expect.poll(waiting).toBe(requests.length);
    return { replies };
  });
  const replies = await sent.replies;
  expect(replies.filter(([status]) => status === 200)).toHaveLength(3);
  expect(replies.filter(([, message]) => message === used)).toHaveLength(3);
  expect(await credits()).toHaveLength(1);
});

test("G155 one of a kind for each account, and no more in a month than its limit, also at once", async () => {
  const { signUp, create, redeem, credits, db } = await setup();
  const users = [await signUp("A"), await signUp("B"), await signUp("C")] as const;
  const { codes } = await create("--count", "4", "--limit-per-month", "2");
  const [first, second, third, fourth] = codes as unknown as [string, string, string, string];
  const own = await Promise.all([redeem(users[0], first), redeem(users[0], second)]);
  expect(own.map(([status]) => status).toSorted()).toEqual([200, 409]);
  expect(own.flat()).toContain("You have redeemed a code of this kind before; each account can redeem one");
  const others = await Promise.all([redeem(users[1], third), redeem(users[2], fourth)]);
  expect(others.map(([status]) => status).toSorted()).toEqual([200, 409]);
  expect(others.flat()).toContain(
    "This month's codes of this kind are all redeemed. The code stays valid: try it next month",
  );
  await sql`update vouchers set redeemed_at = redeemed_at - interval '32 days' where redeemed_at is not null`.execute(
    db,
  );
  const late = others[0]?.[0] === 409 ? redeem(users[1], third) : redeem(users[2], fourth);
  expect(await late).toEqual([200, 10]);
  expect(await credits()).toHaveLength(3);
});

test("expired, revoked and spent codes say so; a kind is revoked with every code that is not redeemed", async () => {
  const { signUp, create, redeem, run, db } = await setup();
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  const short = await create("--expires", "2999-06-30");
  await sql`update voucher_batches set expires_at = '2026-01-02T00:00Z' where expires_at is not null`.execute(db);
  expect(await redeem(ada, short.codes[0])).toEqual([
    409,
    "This code could be redeemed until Jan 2, 2026, 12:00 AM UTC",
  ]);

  const three = await create("--count", "3");
  const [spent, open, other] = three.codes as unknown as [string, string, string];
  await redeem(ada, spent);
  const revoke = (which: string) => run("vouchers", "revoke", which, "--reason", "Published");
  expect(await revoke(spent)).toMatchObject({ code: 1, stderr: /It is redeemed/ });
  expect(await revoke(open)).toMatchObject({ stdout: "1 code is void now" });
  expect(await redeem(ben, open)).toEqual([409, "This code was withdrawn by the seller"]);
  expect(await revoke(three.id)).toMatchObject({ stdout: "1 code is void now" });
  expect(await revoke(other)).toMatchObject({ stdout: "That was revoked before" });
  expect(await revoke("nothing")).toMatchObject({ code: 1, stderr: /There is no such voucher/ });
  const rows = await db.selectFrom("granted_credits").select("id").execute();
  await run("credits", "revoke", rows[0]?.id ?? "", "--reason", "Published");
  expect(await redeem(ada, spent)).toEqual([
    409,
    expect.stringMatching(/^You redeemed this code on .*, and its hours are used$/),
  ]);
  expect(JSON.parse((await run("vouchers", "list", "--json")).stdout)).toMatchObject([
    { id: three.id, gpu_hours: 10, codes: 3, redeemed: 1, revoked: 2, reason: "Course" },
    { id: short.id, codes: 1, redeemed: 0 },
  ]);
});

test("vouchers show names who redeemed a code, when, and whether its hours are used; credits list has the reason", async () => {
  const { signUp, create, redeem, run, db } = await setup();
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  const { id, codes } = await create("--count", "3");
  for (const [index, user] of [ada, ben].entries()) await redeem(user, codes[index] ?? "");
  await sql`update granted_credits set revoked_at = now() where user_id = ${ben.id}`.execute(db);
  expect(JSON.parse((await run("vouchers", "show", id, "--json")).stdout)).toMatchObject([
    { email: ada.email, redeemed_at: expect.any(String), state: "open", used_by_order: null },
    { email: ben.email, state: "revoked" },
  ]);
  expect((await run("vouchers", "show", id)).stdout).toMatch(new RegExp(`${ada.email} +20\\d\\d-.* open`));
  expect((await run("credits", "list")).stdout).toMatch(/voucher .*open .*Course$/m);
  expect(await run("vouchers", "show", "x")).toMatchObject({
    code: 1,
    stderr: "There is no kind x; vouchers list names them",
  });
});

test("tries are limited like sign-ins, and wrong options make no code", async () => {
  const { signUp, redeem, run, create, db } = await setup({ SIGN_INS_PER_MINUTE: "3" });
  const [ada, ben] = [await signUp("Ada"), await signUp("Ben")];
  const [code] = (await create()).codes;
  const tries = [];
  for (let count = 0; count < 4; count += 1) tries.push((await redeem(ada, "guess"))[0]);
  expect(tries).toEqual([404, 404, 404, 429]);
  expect(await redeem(ada, code)).toEqual([429, "Too many codes were tried. Try again in a minute."]);
  expect(await redeem(ben, code), "another account").toEqual([200, 10]);
  const made = ["vouchers", "create", "--reason", "x"];
  for (const [options, code, stderr] of [
    [[], 2, /lacks --hours/],
    [["--hours", "0"], 2, /whole number/],
    [["--hours", "1", "--count", "1001"], 2, /whole number/],
    [["--hours", "1", "--limit-per-month", "many"], 2, /whole number/],
    [["--hours", "1", "--expires", "tomorrow"], 2, /neither a day/],
    [["--hours", "1", "--expires", "2020-01-01"], 1, /is over/],
    [["--hours", "1", "--reason", " "], 1, /needs a reason/],
  ] as const)
    expect(await run(...made, ...options), options.join(" ")).toMatchObject({ code, stderr });
  expect(await db.selectFrom("vouchers").select("id").execute()).toHaveLength(1);
});
