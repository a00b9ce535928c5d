import { afterAll, beforeEach, expect, test } from "vitest";
import { appUrl, type TestUser, testApp } from "../../testing/test-app.ts";
import { linkTickets } from "./link-tickets.ts";
import { oidcCounterpart } from "./testing/oidc-counterpart.ts";
import { type TestBrowser, testBrowser } from "./testing/test-browser.ts";

const uni = await oidcCounterpart(appUrl);
afterAll(uni.stop);

const password = "good password 1";
const ada = { sub: "ada", email: "ada@uni.example", email_verified: true, name: "Ada Park" };

beforeEach(() => void Object.assign(uni.state, { person: ada, claims: {}, isAway: false }));

async function setup() {
  const product = await testApp(uni.env);
  const { app, call, must, identity, signUp, db } = product;
  const linksOf = ({ id, token }: TestUser) => must("GET", `/settings/${id}/linked-accounts`, token);
  const begin = ({ id, token }: TestUser, body: object = { provider: "1", password }) =>
    call("POST", `/settings/${id}/linked-accounts`, token, body);
  /** With the code of the page that the provider led back to. */
  const end = (browser: TestBrowser, page: URL, { id, token }: TestUser) =>
    browser.post(`/settings/${id}/linked-accounts/finish`, { code: page.hash.replace("#provider=", "") }, token);
  async function confirmed() {
    const user = await signUp();
    await identity.updateUser(user.id, { emailVerified: true });
    return user;
  }
  async function link(user: TestUser) {
    const browser = testBrowser(app);
    return await end(browser, await browser.signIn((await begin(user)).json().start), user);
  }
  async function enter() {
    const browser = testBrowser(app);
    const page = await browser.signIn("/auth/providers/1/start");
    return (await browser.post("/auth/providers/finish", { code: page.hash.replace("#provider=", "") })).json();
  }
  /** Who has signed in by the provider alone. */
  async function newcomer(): Promise<TestUser> {
    const { access_token: token, email } = await enter();
    const url = "/identity/v1/accounts:signInWithCustomToken?key=local";
    const { localId, idToken, refreshToken } = await must("POST", url, undefined, { token });
    return { id: localId, email, token: idToken, refreshToken };
  }
  const mails = async (user: TestUser) =>
    (await db.selectFrom("mails").select("subject").where("user_id", "=", user.id).execute()).map(
      ({ subject }) => subject,
    );
  return { ...product, linksOf, begin, end, confirmed, link, enter, newcomer, mails };
}

test("G419 a signed-in user connects a provider by the password, signs in by it, and removes it", async () => {
  const { linksOf, confirmed, link, enter, mails, call, must } = await setup();
  const user = await confirmed();
  expect(await linksOf(user)).toEqual({
    ...{ status: "success", linked_accounts: [], has_password: true },
    providers: [{ key: "1", name: "Uni" }],
  });
  expect((await link(user)).json()).toEqual({ status: "success", provider: "Uni" });
  const [linked] = (await linksOf(user)).linked_accounts;
  expect(linked).toMatchObject({ provider: "Uni", email: ada.email, last_used_at: null });
  expect(await mails(user)).toContain("Uni is connected");
  expect((await link(user)).statusCode, "again changes nothing").toBe(200);
  expect((await linksOf(user)).linked_accounts).toHaveLength(1);
  expect((await mails(user)).filter((subject) => subject === "Uni is connected")).toHaveLength(1);
  expect((await enter()).email, "another address there is no matter").toBe(user.email);
  const exported = await must("GET", `/profile/${user.id}/export`, user.token);
  expect(exported.linked_accounts).toMatchObject([{ issuer: `${uni.issuer}/`, subject: "ada", email: ada.email }]);

  const path = `/settings/${user.id}/linked-accounts/${linked.id}`;
  expect((await call("DELETE", path, user.token, { password: "wrong" })).json().code).toBe("wrong_password");
  await must("DELETE", path, user.token, { password });
  expect((await call("DELETE", path, user.token, { password })).statusCode).toBe(404);
  expect(await mails(user)).toContain("Uni is disconnected");
  expect((await enter()).email, "that is another account now").toBe(ada.email);
});

test("G419 connecting takes the password, a confirmed address, this sign-in and this browser", async () => {
  const { app, begin, end, signUp, confirmed, linksOf, link } = await setup();
  const user = await confirmed();
  expect((await begin(user, { provider: "1", password: "wrong" })).json().code).toBe("wrong_password");
  expect((await begin(user, { provider: "9", password })).statusCode).toBe(404);
  expect((await begin(await signUp())).json()).toMatchObject({
    code: "email_unverified",
    message: "Confirm your email address first: a link is sent from where you launch",
  });

  // Somebody's ticket in another's browser: their provider's account must not be connected to the sender's.
  const [browser, victim] = [testBrowser(app), await confirmed()];
  const page = await browser.signIn((await begin(user)).json().start);
  expect(page.pathname + page.search).toBe("/settings?tab=security");
  const overdue = { code: "action_not_allowed" };
  expect((await end(browser, page, victim)).json()).toMatchObject(overdue);
  expect((await end(testBrowser(app), page, user)).json(), "in another browser").toMatchObject(overdue);
  const code = page.hash.replace("#provider=", "");
  expect((await browser.post("/auth/providers/finish", { code })).json(), "as a sign-in").toMatchObject(overdue);
  expect((await linksOf(user)).linked_accounts).toEqual([]);
  expect((await end(browser, page, user)).statusCode).toBe(200);
  expect((await link(victim)).json().message).toBe("This account at Uni signs in to another account here already");

  const sealed = linkTickets(Buffer.from("another secret"));
  for (const ticket of ["", "made-up", sealed.issue(user.id, "1"), "A".repeat(200)]) {
    const { headers } = await app.inject(`/auth/providers/1/start?link=${ticket}`);
    expect(headers.location, ticket).toBe("/login?error=expired&provider=1");
  }
  uni.state.person = null;
  const refused = await browser.signIn((await begin(user)).json().start);
  expect(refused.pathname + refused.search).toBe("/settings?tab=security&error=denied&provider=1");
});

test("G420 who has no password sets one first: before a provider is removed, a factor set up, the account deleted", async () => {
  const { linksOf, newcomer, call, must, identity } = await setup();
  const user = await newcomer();
  const { linked_accounts, has_password } = await linksOf(user);
  expect(has_password).toBe(false);
  const path = `/settings/${user.id}/linked-accounts/${linked_accounts[0].id}`;
  const calls = [
    ["DELETE", path, {}],
    ["POST", `/settings/${user.id}/linked-accounts`, { provider: "1" }],
    ["POST", `/settings/${user.id}/second-factor`, {}],
    ["DELETE", `/profile/${user.id}`, {}],
  ] as const;
  for (const [method, url, body] of calls)
    expect(
      (await call(method, url, user.token, { ...body, password: "any" })).json(),
      `${method} ${url}`,
    ).toMatchObject({
      code: "wrong_password",
      message: "Set a password first: Forgot Password on the login page mails a link",
    });
  const oobCode = await identity.createActionCode("PASSWORD_RESET", user.email);
  const reset = "/identity/v1/accounts:resetPassword?key=local";
  await must("POST", reset, undefined, { oobCode, newPassword: "Good password 7!" });
  const again = await newcomer();
  expect(again.id).toBe(user.id);
  expect((await linksOf(again)).has_password).toBe(true);
  await must("DELETE", path, again.token, { password: "Good password 7!" });
  await must("DELETE", `/profile/${user.id}`, again.token, { password: "Good password 7!" });
});
