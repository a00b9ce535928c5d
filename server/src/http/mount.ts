import type { AnyEndpoint, File, Input, ReplyOf } from "@berth/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { safeParse } from "zod/mini";
import { AppError } from "../app-error.ts";
import { type User, userOf } from "./request-user.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    endpoint?: AnyEndpoint;
    /** `bearer`: refused without a valid token (limit-requests.ts). `operator`: without a sign-in to the console. */
    auth?: "bearer" | "none" | "operator";
    /** Limited by network as calls of the payment dialog, not as other requests without a token. */
    limit?: "dialog";
  }
}

/** A handler's input: parsed params, body and query, the user of a bearer endpoint, and the raw request. */
export interface Call<E extends AnyEndpoint> extends Required<Input<E>> {
  readonly user: E["auth"] extends "bearer" ? User : undefined;
  readonly request: FastifyRequest;
}

/**
 * Mounts one contract endpoint: authentication, validation, handler, then the reply parsed so that no extra field leaks
 * (CONTRIBUTING 7). A `user_id` in the path that is not the token's subject gets `not_found`.
 */
export function mount<E extends AnyEndpoint>(
  app: FastifyInstance,
  endpoint: E,
  handle: (call: Call<E>) => Promise<ReplyOf<E>>,
): void {
  app.route({
    method: endpoint.method as HTTPMethods,
    url: fastifyPath(endpoint),
    config: { endpoint, auth: endpoint.auth },
    handler: async (request, reply) => {
      const user = endpoint.auth === "bearer" ? userOf(request) : undefined;
      const params = request.params as Record<string, string>;
      if (user && params["user_id"] !== undefined && params["user_id"] !== user.id) throw notFound();
      // PostgreSQL's text cannot contain NUL, so no such row exists.
      if (Object.values(params).some((value) => value.includes("\u0000"))) throw notFound();
      const body = safeParse(endpoint.body, request.body ?? {});
      if (!body.success) throw new AppError("invalid_request", describe(body.error.issues));
      const query = queryOf(endpoint, request.query as Record<string, unknown>);
      const parsed = endpoint.reply.parse(await handle({ params, body: body.data, query, user, request } as Call<E>));
      return endpoint.media ? sendFile(reply, endpoint.media, parsed as File) : parsed;
    },
  });
}

function queryOf({ query = {} }: AnyEndpoint, given: Readonly<Record<string, unknown>>): Record<string, string> {
  const read = Object.entries(query).map(([name, allowed]) => {
    const value = allowed.find((each) => each === (given[name] ?? allowed[0]));
    if (value === undefined) throw new AppError("invalid_request", `${name}: one of ${allowed.join(", ")}`);
    return [name, value] as const;
  });
  return Object.fromEntries(read);
}

/** As an attachment, never rendered in the app's origin, and not stored by shared caches. */
function sendFile(reply: FastifyReply, media: string, { name, content }: File): FastifyReply {
  reply.headers({ "content-disposition": `attachment; filename="${name}"`, "cache-control": "private, no-store" });
  return reply.type(media).send(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
}

/** Common field of successful replies. */
export const success = { status: "success" } as const;

/** The same refusal for absent resources and those of other users. */
export function notFound(): AppError {
  return new AppError("not_found", "There is nothing here, or it is not yours");
}

function fastifyPath({ path, values }: AnyEndpoint): string {
  return path.replace(/\{(\w+)\}/g, (_: string, name: string) => {
    const allowed = values?.[name];
    return allowed ? `:${name}(^(?:${allowed.join("|")})$)` : `:${name}`;
  });
}

function describe(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message))
    .join("; ");
}
