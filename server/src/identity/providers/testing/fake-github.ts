import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Email {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
}

interface State {
  user: { readonly id: number; readonly login: string; readonly name: string | null };
  emails: readonly Email[];
  /** Whether the person lets the app in. */
  isAllowed: boolean;
}

const app = { client_id: "app of the test", client_secret: "secret of the test" };

/** The calls of GitHub that a sign-in makes, as its documentation describes them: GitHub itself runs nowhere but there. */
export async function fakeGithub() {
  const state: State = {
    user: { id: 1, login: "ada", name: "Ada Park" },
    emails: [{ email: "ada@uni.example", primary: true, verified: true }],
    isAllowed: true,
  };
  const calls = callsOf(state);
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://github.test");
    if (pathname === "/login/oauth/authorize")
      return response.writeHead(302, { location: calls.authorize(searchParams) }).end();
    const reply =
      pathname === "/login/oauth/access_token"
        ? calls.exchange(new URLSearchParams(await text(request)))
        : calls.read(pathname, request.headers.authorization ?? "");
    response.writeHead(reply ? 200 : 401, { "content-type": "application/json" });
    return response.end(JSON.stringify(reply ?? { message: "Bad credentials" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    state,
    env: { GITHUB_URL: url, GITHUB_CLIENT_ID: app.client_id, GITHUB_CLIENT_SECRET: app.client_secret },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function callsOf(state: State) {
  /** By code: the challenge and where it leads. */
  const codes = new Map<string, { challenge: string | null; redirectUri: string | null }>();
  const tokens = new Set<string>();
  return {
    authorize(query: URLSearchParams): string {
      const code = randomUUID();
      codes.set(code, { challenge: query.get("code_challenge"), redirectUri: query.get("redirect_uri") });
      const answer = new URLSearchParams({ state: query.get("state") ?? "" });
      if (state.isAllowed) answer.set("code", code);
      else answer.set("error", "access_denied");
      return `${query.get("redirect_uri")}?${answer}`;
    },

    exchange(form: URLSearchParams): object {
      const code = form.get("code") ?? "";
      const known = codes.get(code);
      codes.delete(code);
      const verifier = createHash("sha256").update(form.get("code_verifier") ?? "");
      const isRight =
        form.get("client_id") === app.client_id &&
        form.get("client_secret") === app.client_secret &&
        known?.challenge === verifier.digest("base64url") &&
        known.redirectUri === form.get("redirect_uri");
      // With status 200, as GitHub refuses.
      if (!isRight) return { error: "bad_verification_code" };
      const token = randomUUID();
      tokens.add(`Bearer ${token}`);
      return { access_token: token, token_type: "bearer", scope: "read:user,user:email" };
    },

    read(path: string, authorization: string): unknown {
      if (!tokens.has(authorization)) return undefined;
      return { "/api/v3/user": state.user, "/api/v3/user/emails": state.emails }[path];
    },
  };
}
