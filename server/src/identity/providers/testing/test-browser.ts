import type { FastifyInstance } from "fastify";
import { appUrl } from "../../../testing/test-app.ts";

export type TestBrowser = ReturnType<typeof testBrowser>;

/** A browser with the cookies of the app, which goes to a provider and comes back. */
export function testBrowser(app: Pick<FastifyInstance, "inject">) {
  let cookie = "";

  const get = async (path: string) => {
    const reply = await app.inject({ url: path, headers: { cookie, accept: "text/html" } });
    const given = reply.headers["set-cookie"];
    if (given !== undefined) cookie = String(given).split(";")[0] ?? "";
    return reply;
  };

  return {
    get,
    /** Of the app's pages: with its cookies. */
    async post(url: string, body: object, token?: string) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return await app.inject({ method: "POST", url, headers: { cookie, ...authorization }, payload: body });
    },
    /** Where the provider leads back to, as a path of the app. */
    async goTo(start: string): Promise<string> {
      const { statusCode, headers } = await get(start);
      const location = String(headers.location);
      return statusCode === 302 && location.startsWith("http") ? await atProvider(location) : location;
    },
    /** The page at which a sign-in ends. */
    async signIn(start: string): Promise<URL> {
      const back = await this.goTo(start);
      const path = back.includes("/callback") ? String((await get(back)).headers.location) : back;
      return new URL(path, appUrl);
    },
  };
}

/** Follows a provider's redirects, and presses its button. */
async function atProvider(first: string): Promise<string> {
  const jar = new Map<string, string>();
  let [url, method] = [first, "GET"];
  for (let step = 0; step < 12; step++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await fetch(url, { method, redirect: "manual", headers: { cookie } });
    for (const given of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(given) ?? [];
      jar.set(name, value);
    }
    const location = reply.headers.get("location");
    method = location === null ? "POST" : "GET";
    if (location !== null) url = new URL(location, url).href;
    if (url.startsWith(`${appUrl}/`)) return url.slice(appUrl.length);
  }
  throw new Error(`${url} leads nowhere`);
}
