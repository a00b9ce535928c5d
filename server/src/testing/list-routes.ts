import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly config: RouteOptions["config"];
}

/** Records all routes of the next app, also those outside the contract: Fastify itself can only print them. */
export function listRoutes(): () => readonly Route[] {
  const routes: Route[] = [];
  const onInitialization = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook("onRoute", ({ method, url, config }) => {
      for (const each of [method].flat())
        if (each !== "HEAD") routes.push({ method: each as Route["method"], url, config });
    });
  };
  subscribe("fastify.initialization", onInitialization);
  return () => {
    unsubscribe("fastify.initialization", onInitialization);
    return routes;
  };
}
