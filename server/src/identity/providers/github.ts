import { createHash } from "node:crypto";
import {
  array,
  boolean,
  type infer as Infer,
  nullable,
  number,
  object,
  optional,
  safeParse,
  string,
  type ZodMiniType,
} from "zod/mini";
import type { GithubConfig } from "../../config/provider-settings.ts";
import { ProviderError, type SignInProvider } from "./sign-in-provider.ts";

const timeoutMs = 10_000;

const tokenReply = object({ access_token: optional(string()), error: optional(string()) });
const userReply = object({ id: number(), login: string(), name: optional(nullable(string())) });
const emailsReply = array(object({ email: string(), primary: boolean(), verified: boolean() }));

/** GitHub speaks OAuth alone: who signed in stands in its API (G416). */
export function github({ url, clientId, clientSecret }: GithubConfig): SignInProvider {
  const api = url === "https://github.com" ? "https://api.github.com" : `${url}/api/v3`;
  return {
    ...{ key: "github", name: "GitHub", issuer: url, domains: [] },

    async authorizeUrl(redirectUri, { state, verifier }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: "read:user user:email",
        state,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
      });
      return `${url}/login/oauth/authorize?${query}`;
    },

    async exchange(answer, { verifier }) {
      const error = answer.searchParams.get("error");
      if (error !== null) throw new ProviderError("denied", `GitHub says ${error}`);
      const body = new URLSearchParams({
        ...{ client_id: clientId, client_secret: clientSecret, code_verifier: verifier },
        code: answer.searchParams.get("code") ?? "",
        redirect_uri: `${answer.origin}${answer.pathname}`,
      });
      const token = await ask(`${url}/login/oauth/access_token`, tokenReply, { method: "POST", body });
      if (token.access_token === undefined)
        throw new ProviderError("unproven", `GitHub takes the code for nothing: ${token.error ?? "no reason"}`);
      const headers = { authorization: `Bearer ${token.access_token}` };
      const user = await ask(`${api}/user`, userReply, { headers });
      const emails = await ask(`${api}/user/emails`, emailsReply, { headers });
      const email = emails.find(({ primary, verified }) => primary && verified)?.email ?? null;
      return { subject: String(user.id), email, name: user.name || user.login };
    },
  };
}

async function ask<Reply extends ZodMiniType>(url: string, shape: Reply, init: RequestInit): Promise<Infer<Reply>> {
  const headers = { accept: "application/json", "user-agent": "Berth", ...init.headers };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { ...init, headers, signal, redirect: "error" }).catch((cause: unknown) => {
    throw new ProviderError("away", `${url} does not answer`, { cause });
  });
  if (response.status >= 500) throw new ProviderError("away", `${url} answers ${response.status}`);
  const reply = safeParse(shape, await response.json().catch(() => undefined));
  if (!response.ok || !reply.success)
    throw new ProviderError("unproven", `${url} answers ${response.status} with something else`);
  return reply.data;
}
