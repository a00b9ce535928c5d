import * as contract from "@berth/contract";
import { type TestBrowser, testBrowser } from "../../identity/providers/testing/test-browser.ts";
import type { TestApp, TestUser } from "../../testing/test-app.ts";

interface Input {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly token?: string;
  readonly browser?: TestBrowser;
}

type Ask = (endpoint: contract.AnyEndpoint, input: Input) => Promise<Record<string, never>>;

const password = "good password 1";

/** A sign-in by GitHub, and another account of GitHub connected and removed. */
export async function providerCalls(ask: Ask, { app, identity, db }: TestApp, { id, token }: TestUser): Promise<void> {
  const browser = testBrowser(app);
  const codeAt = async (start: string) => ({ code: (await browser.signIn(start)).hash.replace("#provider=", "") });
  const body = await codeAt("/auth/providers/github/start");
  await ask(contract.finishProviderSignIn, { body, browser });
  // GitHub has one account here: it becomes another's.
  await db.deleteFrom("identity_links").execute();
  await identity.updateUser(id, { emailVerified: true });
  const own = { params: { user_id: id }, token };
  const { start = "" } = await ask(contract.beginLink, { ...own, body: { provider: "github", password } });
  await ask(contract.finishLink, { ...own, body: await codeAt(start), browser });
  const { linked_accounts } = await ask(contract.linkedAccounts, own);
  const [{ id: link_id } = { id: "" }] = linked_accounts as unknown as { id: string }[];
  await ask(contract.removeLink, { ...own, params: { ...own.params, link_id }, body: { password } });
}
