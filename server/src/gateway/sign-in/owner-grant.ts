import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import type { Grant } from "../principal/grants.ts";
import type { SignInDeps } from "./sign-in.ts";

/** The grant of a request's cookie, also where another gateway has just issued it. */
export async function grantOf(
  { cookies, targets }: Pick<SignInDeps, "cookies" | "targets">,
  cookie: string | undefined,
  route: EnvironmentRoute,
  port?: number,
): Promise<Grant | undefined> {
  const unread = cookies.unread(cookie, route);
  if (unread !== undefined) await targets.readGrant(unread);
  return cookies.read(cookie, route, port);
}

/** The same for its owner alone. */
export async function ownerGrantOf(...given: Parameters<typeof grantOf>): Promise<Grant | undefined> {
  const grant = await grantOf(...given);
  return grant?.share ? undefined : grant;
}
