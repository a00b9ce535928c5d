import { afterAll, beforeEach, expect, test } from "vitest";
import { codeOf } from "../../testing/factor-code.ts";
import { appUrl, testApp } from "../../testing/test-app.ts";
import { purgeIdentity } from "../purge-identity.ts";
import { oidcCounterpart } from "./testing/oidc-counterpart.ts";
import { type TestBrowser, testBrowser } from "./testing/test-browser.ts";

const uni = await oidcCounterpart(appUrl);
afterAll(uni.stop);

const ada = { sub: "ada", email: "ada@uni.example", email_verified: true, name: "Ada Park" };
const ben = { sub: "ben", email: "ben@uni.example", email_verified: true, name: "Ben" };

beforeEach(() => void Object.assign(uni.state, { person: ada, claims: {}, isAway: false }));

const start = "/auth/providers/1/start?return_to=/billing";
const nowSeconds = () => Math.floor(Date.now() / 1000);

async function setup(env: Record<string, string> = {}) {
  const product = await testApp({ ...uni.env, ...env });
  const { app, call, db } = product;
  const newBrowser = () => testBrowser(app);

  const finish = (code: string, browser: TestBrowser) => browser.post("/auth/providers/finish", { code });

  /** The page at which a sign-in ends, and the reply to it. */
  async function enter(browser = newBrowser()) {
    const page = await browser.signIn(start);
    const code = page.hash.replace("#provider=", "");
    return { page, code, reply: await finish(code, browser) };
  }

  async function sessionOf(token: string) {
    const reply = await call("POST", "/identity/v1/accounts:signInWithCustomToken?key=local", undefined, { token });
    return reply.json();
  }

  /** The code of the sentence on the sign-in page. */
  async function failureOf(page: URL | Promise<URL>): Promise<string | null> {
    const { pathname, hash, searchParams } = await page;
    expect([pathname, hash, searchParams.get("provider")]).toEqual(["/login", "", "1"]);
    return searchParams.get("error");
  }

  const accounts = async () => (await db.selectFrom("identity_user").select("email").orderBy("email").execute()).length;

  return { ...product, newBrowser, finish, enter, sessionOf, failureOf, accounts };
}

test("G416 who is new gets an account with the confirmed address and signs in to it again; a sign-out ends that", async () => {
  const { db, enter, sessionOf, must, call, lines } = await setup();
  const first = await enter();
  expect(first.page.pathname + first.page.search).toBe("/login?from=%2Fbilling");
  expect(first.reply.json()).toEqual({ status: "success", access_token: expect.any(String), email: ada.email });
  const { idToken, localId: id } = await sessionOf(first.reply.json().access_token);
  const { profile } = await must("GET", `/profile/${id}`, idToken);
  expect(profile).toEqual({ name: "Ada Park", email: ada.email, phone: "", email_verified: true });
  const { notifications } = await must("GET", "/notifications", idToken);
  expect(notifications, "welcomed as after a sign-up").toHaveLength(3);
  expect(lines().find(({ event }) => event === "user.signed_up")).toMatchObject({ userId: id, provider: "1" });
  const links = () => db.selectFrom("identity_links").selectAll().execute();
  expect(await links()).toMatchObject([{ user_id: id, subject: "ada", email: ada.email, last_used_at: null }]);

  // The provider knows the person by the subject; the address there may change.
  uni.state.person = { ...ada, email: "ada@home.example" };
  const again = await sessionOf((await enter()).reply.json().access_token);
  expect(again.localId).toBe(id);
  expect(await links()).toMatchObject([{ email: "ada@home.example", last_used_at: expect.any(Date) }]);
  expect((await must("GET", `/profile/${id}`, again.idToken)).profile.email).toBe(ada.email);

  const { sign_ins } = await must("GET", `/settings/${id}/sign-ins`, again.idToken);
  expect(sign_ins).toMatchObject([{ provider: "Uni" }, { provider: "Uni" }]);

  await must("POST", "/auth/logout", again.idToken, {});
  expect((await call("GET", "/auth/validate", again.idToken)).statusCode).toBe(401);
  expect((await call("GET", "/auth/validate", idToken)).statusCode, "the other sign-in goes on").toBe(200);
});

test("G418 an account with the same address is never entered by the address alone, and nobody gets another's", async () => {
  const { enter, must, accounts, sessionOf, identity, newBrowser, finish } = await setup();
  const body = { email: "Ada@Uni.example", password: "good password 1" };
  await must("POST", "/auth/signup", undefined, body);
  const refused = await enter();
  expect([refused.reply.statusCode, refused.reply.json().code]).toEqual([409, "email_exists"]);
  expect(refused.reply.json().message).toBe(
    "An account with this address exists. Sign in with your password first, then connect Uni in Settings.",
  );
  expect(await accounts()).toBe(1);

  uni.state.person = { ...ada, sub: "nobody", email: "new@uni.example", email_verified: false };
  expect((await enter()).reply.json()).toMatchObject({
    code: "email_unverified",
    message: "Uni has not confirmed your email address. Confirm it there, then try again.",
  });
  uni.state.person = { sub: "without an address" };
  expect((await enter()).reply.json().code).toBe("email_unverified");
  expect(await accounts()).toBe(1);

  uni.state.person = ben;
  const { reply } = await enter();
  const { localId } = await sessionOf(reply.json().access_token);
  uni.state.person = { sub: ben.sub };
  expect((await enter()).reply.statusCode, "who is known needs no address").toBe(200);
  await identity.updateUser(localId, { disabled: true });
  expect((await enter()).reply.json()).toMatchObject({
    code: "account_held",
    message: "This account is suspended. Write to hello@berth.example if that is a mistake.",
  });

  // Both tabs of one browser end with the one account.
  uni.state.person = { ...ada, sub: "twice", email: "twice@uni.example" };
  const browser = newBrowser();
  const pages = [await browser.signIn(start), await browser.signIn(start)];
  const replies = await Promise.all(pages.map(({ hash }) => finish(hash.replace("#provider=", ""), browser)));
  expect(replies.map(({ statusCode }) => statusCode)).toContain(200);
  expect(await accounts()).toBe(3);
});

test("G418 an answer counts once, in the browser that asked, and in time", async () => {
  const { app, db, newBrowser, finish, failureOf, accounts, enter } = await setup();
  const [browser, other] = [newBrowser(), newBrowser()];
  const back = await browser.goTo(start);
  const at = async (path: string, by: TestBrowser) => new URL(String((await by.get(path)).headers.location), appUrl);
  expect(await failureOf(at(back, other)), "led here by somebody else").toBe("browser");
  const page = await at(back, browser);
  const code = page.hash.replace("#provider=", "");
  expect(await failureOf(at(back, browser)), "the same answer again").toBe("expired");
  expect((await finish(code, other)).json()).toMatchObject({
    code: "action_not_allowed",
    message: "This took too long, or was begun in another browser. Begin again.",
  });
  expect((await finish(code, browser)).statusCode).toBe(200);
  expect((await finish(code, browser)).json().code).toBe("action_not_allowed");
  expect(await accounts()).toBe(1);

  const forged = back.replace(/state=[^&]+/, "state=made-up");
  expect(await failureOf(at(forged, browser))).toBe("expired");
  const late = await browser.goTo(start);
  await db
    .updateTable("identity_provider_attempts")
    .set({ expires_at: new Date(0) })
    .execute();
  expect(await failureOf(at(late, browser)), "after ten minutes").toBe("expired");
  await purgeIdentity(db);
  expect(await db.selectFrom("identity_provider_attempts").selectAll().execute()).toEqual([]);

  // A code of the provider that somebody else got: it is bound to their verifier.
  const [mine, theirs] = [await browser.goTo(start), await other.goTo(start)];
  const stolen = new URL(theirs, appUrl).searchParams.get("code") ?? "";
  expect(await failureOf(at(mine.replace(/code=[^&]+/, `code=${stolen}`), browser))).toBe("unproven");
  for (const path of ["/auth/providers/9/start", "/auth/providers/%00/callback?state=x", "/auth/providers/1/callback"])
    expect((await app.inject(path)).headers.location, path).toContain("/login?error=expired");
  for (const leading of ["//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nb"]) {
    const led = await browser.signIn(`/auth/providers/1/start?return_to=${encodeURIComponent(leading)}`);
    expect(led.search, leading).toBe("?from=%2Fdashboard");
  }
  expect((await enter()).reply.statusCode, "nobody is locked out").toBe(200);
});

test("G417 an ID token with anything wrong signs nobody in; a clock may differ by a minute", async () => {
  const { newBrowser, failureOf, accounts, enter, lines } = await setup();
  const wrong: readonly (readonly [string, object])[] = [
    ["another nonce", { nonce: "another" }],
    ["another audience", { aud: "another" }],
    ["another issuer", { iss: "https://id.example" }],
    ["an end that is past", { exp: nowSeconds() - 120 }],
    ["ten minutes late", { iat: nowSeconds() - 600 }],
    ["ten minutes early", { iat: nowSeconds() + 600, exp: nowSeconds() + 4200 }],
  ];
  for (const [what, claims] of wrong) {
    uni.state.claims = { ...claims };
    expect(await failureOf(newBrowser().signIn(start)), what).toBe("unproven");
  }
  expect(await accounts()).toBe(0);
  const said = lines().filter(({ event }) => event === "provider.sign_in_failed");
  expect(said.map(({ problem }) => problem)).toEqual(["unproven", "unproven", "unproven", "clock", "clock", "clock"]);
  expect(said.at(-1)?.["msg"]).toMatch(/came at .+: the provider's clock or this machine's is wrong$/);
  for (const line of said) expect(JSON.stringify(line), "no token in the log").not.toMatch(/eyJ[\w-]+\.eyJ/);
  for (const seconds of [-50, 50]) {
    uni.state.claims = { iat: nowSeconds() + seconds };
    expect((await enter()).reply.statusCode, `${seconds} s`).toBe(200);
  }
});

test("G417 a provider that is away or refuses is one sentence, and new keys of it count at once", async () => {
  const { newBrowser, failureOf, enter, accounts } = await setup();
  uni.state.isAway = true;
  expect(await failureOf(newBrowser().signIn(start)), "at the start").toBe("away");
  uni.state.isAway = false;
  const browser = newBrowser();
  const back = await browser.goTo(start);
  uni.state.isAway = true;
  expect(await failureOf(new URL(String((await browser.get(back)).headers.location), appUrl))).toBe("away");
  uni.state.isAway = false;
  uni.state.person = null;
  expect(await failureOf(newBrowser().signIn(start)), "its login was left").toBe("denied");
  uni.state.person = ada;
  expect(await accounts()).toBe(0);
  expect((await enter()).reply.statusCode).toBe(200);
  await uni.rollKeys();
  expect((await enter()).reply.statusCode).toBe(200);
});

test("G416 only addresses of the domains sign in, of who is known too", async () => {
  const { newBrowser, failureOf, enter } = await setup({ OIDC_1_DOMAINS: "lab.example, Uni.example" });
  expect((await enter()).reply.statusCode).toBe(200);
  for (const [email, expected] of [
    ["ada@evil-uni.example", "domain"],
    ["ada@uni.example.evil.example", "domain"],
    ["ada@home.example", "domain"],
    [undefined, "address"],
  ] as const) {
    uni.state.person = { sub: "ada", ...(email && { email, email_verified: true }) };
    expect(await failureOf(newBrowser().signIn(start)), email).toBe(expected);
  }
  uni.state.person = { ...ada, email_verified: "true" };
  expect((await enter()).reply.statusCode, "some providers write it as a text").toBe(200);
});

test("G398 a second factor is asked after another provider's sign-in too", async () => {
  const { enter, sessionOf, identity, must } = await setup();
  const { reply } = await enter();
  const { localId } = await sessionOf(reply.json().access_token);
  const secret = await identity.secondFactors.begin(localId);
  await identity.secondFactors.confirm(localId, codeOf(secret), null);
  const half = await sessionOf((await enter()).reply.json().access_token);
  expect(Object.keys(half)).toEqual(["localId", "email", "mfaPendingCredential", "mfaInfo"]);
  const url = "/identity/v2/accounts/mfaSignIn:finalize?key=local";
  const { mfaPendingCredential } = half;
  const totpVerificationInfo = { verificationCode: codeOf(secret, 1) };
  const { idToken } = await must("POST", url, undefined, { mfaPendingCredential, totpVerificationInfo });
  const { sign_ins } = await must("GET", `/settings/${localId}/sign-ins`, idToken);
  expect(sign_ins, "the second step knows the provider").toMatchObject([{ current: true, provider: "Uni" }]);
});

test("the cookie is for this host, no script and no cache", async () => {
  const { app } = await setup();
  const { headers } = await app.inject(start);
  expect(headers["set-cookie"]).toMatch(/^provider-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900$/);
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers.location).toContain(encodeURIComponent(`${appUrl}/auth/providers/1/callback`));
});
