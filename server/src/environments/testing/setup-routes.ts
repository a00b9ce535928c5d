import { defaultCatalogue } from "@berth/contract";
import Fastify from "fastify";
import { onTestFinished } from "vitest";
import { handleErrors } from "../../http/handle-errors.ts";
import { environmentRoutes } from "../api/environment-routes.ts";
import { setupEnvironments } from "./setup-environments.ts";

/** Environments with their routes; the bearer names the user, without an identity behind it. */
export async function setupRoutes(options: Parameters<typeof setupEnvironments>[0] = {}) {
  const environments = await setupEnvironments(options);
  const app = Fastify();
  onTestFinished(() => app.close());
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    const id = request.headers.authorization?.replace("Bearer ", "");
    if (id) request.user = { id, email: `${id}@example.com`, emailVerified: true, name: id, sessionId: null };
  });
  environmentRoutes(app, {
    db: environments.db,
    environmentUrl: (subdomain) => `http://${subdomain}.localhost`,
    catalogue: defaultCatalogue,
    mayOrder: async () => {},
    jumpHost: undefined,
  });
  const call = async (
    method: "GET" | "POST" | "DELETE",
    url: string,
    { user = "user", body }: { user?: string; body?: object } = {},
  ) => {
    const headers = user ? { authorization: `Bearer ${user}` } : {};
    const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) });
    return { code: reply.statusCode, ...reply.json() };
  };
  const act = (action: string, id: string, user = "user") =>
    call("POST", `/docker/${action}_container/${id}/${user}`, { user });
  return { ...environments, call, act };
}
