import { identitySuite } from "../testing/identity.suite.ts";
import { testInstallation, tokensOf } from "../testing/test-installation.ts";

const { start } = await testInstallation();

const shared = start();

identitySuite("the local provider", async () => ({
  identity: shared,
  signIn: async (email, password) => tokensOf(await shared.signIn(email, password, {})).idToken,
  signInWithCustomToken: async (token) => tokensOf(await shared.signInWithCustomToken(token, {})).idToken,
}));
