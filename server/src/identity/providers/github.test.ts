import { afterAll, expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { fakeGithub } from "./testing/fake-github.ts";
import { testBrowser } from "./testing/test-browser.ts";

const hub = await fakeGithub();
afterAll(hub.stop);

test("G416 GitHub signs in by its number and its primary, confirmed address", async () => {
  const { app, db } = await testApp(hub.env);
  const enter = async () => {
    const browser = testBrowser(app);
    const page = await browser.signIn("/auth/providers/github/start");
    const code = page.hash.replace("#provider=", "");
    return { page, reply: (await browser.post("/auth/providers/finish", { code })).json() };
  };
  const spare = { email: "spare@uni.example", primary: false, verified: true };
  hub.state.emails = [spare, { email: "ada@uni.example", primary: true, verified: false }];
  expect((await enter()).reply).toMatchObject({
    code: "email_unverified",
    message: "GitHub has not confirmed your email address. Confirm it there, then try again.",
  });
  hub.state.emails = [spare, { email: "ada@uni.example", primary: true, verified: true }];
  const { reply, page } = await enter();
  expect(page.pathname + page.search).toBe("/login?from=%2Fdashboard");
  expect(reply).toMatchObject({ status: "success", email: "ada@uni.example" });
  hub.state.user = { id: 1, login: "ada-park", name: null };
  expect((await enter()).reply.email, "a login may change").toBe("ada@uni.example");
  hub.state.user = { id: 2, login: "ada", name: null };
  expect((await enter()).reply.code, "another account there").toBe("email_exists");
  const named = await db.selectFrom("identity_user").select("name").execute();
  expect(named).toEqual([{ name: "Ada Park" }]);

  hub.state.isAllowed = false;
  expect((await enter()).page.search).toBe("?error=denied&provider=github");
  hub.state.isAllowed = true;
  const browser = testBrowser(app);
  const back = await browser.goTo("/auth/providers/github/start");
  const forged = await browser.get(back.replace(/code=[^&]+/, "code=guessed"));
  expect(forged.headers.location).toBe("/login?error=unproven&provider=github");
});

test("GitHub that does not answer is away", async () => {
  const { app } = await testApp({ ...hub.env, GITHUB_URL: "http://127.0.0.1:9" });
  const browser = testBrowser(app);
  const { headers } = await browser.get("/auth/providers/github/start");
  const state = new URL(String(headers.location)).searchParams.get("state");
  const answer = await browser.get(`/auth/providers/github/callback?code=any&state=${state}`);
  expect(answer.headers.location).toBe("/login?error=away&provider=github");
});
