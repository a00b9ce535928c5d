import { type AnyEndpoint, errorReply, errorStatus } from "@berth/contract";
import swagger from "@fastify/swagger";
import type { FastifyInstance, FastifySchema } from "fastify";
import { toJSONSchema, type ZodMiniType } from "zod/mini";

/** `/openapi.json`, made of the mounted endpoints of the contract (G98). Register before the routes. */
export async function describeApi(
  app: FastifyInstance,
  { title, version }: { title: string; version: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title, version },
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
    transform: ({ route, schema, url }) => {
      const endpoint = route.config?.endpoint;
      return endpoint ? { url: endpoint.path, schema: schemaOf(endpoint) } : { url, schema: { ...schema, hide: true } };
    },
  });
  // Nothing is mounted after the start, so it is written once.
  let document: string | undefined;
  app.get("/openapi.json", async (_, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply.type("application/json").send(document);
  });
}

function schemaOf(endpoint: AnyEndpoint): FastifySchema {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
  const refusals = new Set(
    [...endpoint.errors, "invalid_request", "rate_limited"].map(
      (code) => errorStatus[code as keyof typeof errorStatus],
    ),
  );
  if (endpoint.auth === "bearer") refusals.add(errorStatus.unauthenticated);
  return {
    summary: endpoint.summary,
    ...(endpoint.auth === "bearer" && { security: [{ bearer: [] }] }),
    ...(names.length > 0 && {
      params: {
        type: "object",
        properties: Object.fromEntries(
          names.map((name) => [
            name,
            { type: "string", ...(endpoint.values?.[name] && { enum: endpoint.values[name] }) },
          ]),
        ),
        required: names,
      },
    }),
    ...(endpoint.query && {
      querystring: {
        type: "object",
        properties: Object.fromEntries(
          Object.entries(endpoint.query).map(([name, allowed]) => [name, { type: "string", enum: allowed }]),
        ),
      },
    }),
    ...(endpoint.method !== "GET" && { body: plain(endpoint.body) }),
    response: {
      200: endpoint.media ? fileOf(endpoint.media) : plain(endpoint.reply),
      ...Object.fromEntries([...refusals].map((status) => [status, plain(errorReply)])),
    },
  } as FastifySchema;
}

function fileOf(media: string): unknown {
  return { description: "The file", content: { [media]: { schema: { type: "string", format: "binary" } } } };
}

function plain(schema: ZodMiniType): unknown {
  const { $schema, ...rest } = toJSONSchema(schema, { io: "input" });
  return rest;
}
