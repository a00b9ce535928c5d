import * as contract from "@berth/contract";
import { type AnyEndpoint, type Catalogue, containerType, currency, errorReply, errorStatus } from "@berth/contract";
import Fastify, { type FastifyInstance, type FastifySchema, type HTTPMethods } from "fastify";
import { toJSONSchema, type ZodMiniType } from "zod/mini";

interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly appUrl: string;
  /** Contact address. */
  readonly email: string;
  /** Whose types and currencies the requests list; absent: none are listed, for pages of every operator. */
  readonly catalogue?: Catalogue | undefined;
}

/** `/openapi.json`, generated from the mounted endpoints of the contract (G98). Call before they are mounted. */
export function describeApi(app: FastifyInstance, info: ApiInfo): void {
  const endpoints = new Set<AnyEndpoint>();
  app.addHook("onRoute", ({ config }) => {
    if (config?.endpoint) endpoints.add(config.endpoint);
  });
  // Cached: no route is mounted after the start.
  let document: Promise<string> | undefined;
  app.get("/openapi.json", async (_, reply) => {
    document ??= documentOf(endpoints, info);
    return reply.type("application/json").send(await document);
  });
}

/** Made by an app of its own, so that the generator, a hundred modules, is loaded only where somebody reads the document. */
async function documentOf(endpoints: ReadonlySet<AnyEndpoint>, info: ApiInfo): Promise<string> {
  const { default: swagger } = await import("@fastify/swagger");
  const { title, version, appUrl, email } = info;
  const sold = soldValues(info.catalogue);
  const app = Fastify();
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title,
        version,
        description: "Rents GPU environments. Every call that is not public takes an ID token as a bearer token.",
        contact: { name: title, email },
        license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: appUrl }],
      tags: [...new Set(Object.values(tags))].map((name) => ({ name })),
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    },
    transformObject: (made) => {
      if (!("openapiObject" in made)) return made.swaggerObject;
      const paths = made.openapiObject.paths as Record<string, Record<string, Operation>>;
      for (const operation of Object.values(paths).flatMap(Object.values<Operation>)) requireBodies(operation);
      return made.openapiObject;
    },
  });
  for (const endpoint of endpoints) {
    const method = endpoint.method as HTTPMethods;
    app.route({ method, url: endpoint.path, schema: schemaOf(endpoint, sold), handler: async () => {} });
  }
  await app.ready();
  return JSON.stringify(app.swagger());
}

/** Tag by path prefix; the first match counts. */
const tags: Readonly<Record<string, string>> = {
  "/auth": "Sign-in",
  "/profile": "Account",
  "/settings": "Account",
  "/notifications": "Account",
  "/docker/payments": "Orders",
  "/orders": "Orders",
  "/unpaid-orders": "Orders",
  "/environments/{id}/extend": "Orders",
  "/docker": "Environments",
  "/environments": "Environments",
  "/subdomains": "Environments",
  "/files": "Environments",
  "/names": "Environments",
  "/billing": "Billing",
  "/credits": "Billing",
  "/vouchers": "Billing",
  "/support": "Support",
  "/config": "Product",
  "/capacity": "Product",
  "/status": "Product",
};

/** Unique operation ids: the contract's export names. */
const names: ReadonlyMap<unknown, string> = new Map(Object.entries(contract).map(([name, value]) => [value, name]));

interface Operation {
  requestBody?: { required?: boolean; content: Record<string, { schema?: { required?: string[]; anyOf?: unknown } }> };
}

/** The generator marks every body as required; one whose fields are all optional is optional too. */
function requireBodies({ requestBody }: Operation): void {
  const schema = requestBody?.content["application/json"]?.schema;
  if (requestBody && schema) requestBody.required = Boolean(schema.required?.length || schema.anyOf);
}

/** The values of a request's field, by its schema in the contract. */
type Sold = ReadonlyMap<unknown, readonly string[]>;

/** Replies list none: orders and environments keep types and currencies that are no longer sold (G126). */
function soldValues(catalogue: Catalogue | undefined): Sold {
  if (!catalogue) return new Map();
  const codes = catalogue.prices.flatMap(({ currencies }) => currencies.map(({ code }) => code));
  return new Map([
    [containerType, catalogue.types.map(({ id }) => id)],
    [currency, [...new Set(codes)]],
  ]);
}

function schemaOf(endpoint: AnyEndpoint, sold: Sold): FastifySchema {
  const params = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
  const refusals = new Set(
    [...endpoint.errors, "invalid_request", "rate_limited"].map(
      (code) => errorStatus[code as keyof typeof errorStatus],
    ),
  );
  if (endpoint.auth === "bearer") refusals.add(errorStatus.unauthenticated);
  const body = plain(endpoint.body, sold);
  return {
    operationId: names.get(endpoint),
    summary: endpoint.summary,
    tags: Object.entries(tags)
      .flatMap(([path, tag]) => (endpoint.path.startsWith(path) ? [tag] : []))
      .slice(0, 1),
    security: endpoint.auth === "bearer" ? [{ bearer: [] }] : [],
    ...(params.length > 0 && {
      params: {
        type: "object",
        properties: Object.fromEntries(
          params.map((name) => [
            name,
            { type: "string", ...(endpoint.values?.[name] && { enum: endpoint.values[name] }) },
          ]),
        ),
        required: params,
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
    ...(!isEmpty(body) && { body }),
    response: {
      200: endpoint.media ? fileSchema(endpoint.media) : plain(endpoint.reply),
      ...Object.fromEntries([...refusals].map((status) => [status, plain(errorReply)])),
    },
  } as FastifySchema;
}

function fileSchema(media: string): unknown {
  return { description: "The file", content: { [media]: { schema: { type: "string", format: "binary" } } } };
}

function plain(schema: ZodMiniType, sold: Sold = new Map()) {
  const { $schema, ...rest } = toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      const values = sold.get(zodSchema);
      if (values) jsonSchema.enum = [...values];
    },
  });
  return rest;
}

/** The endpoint takes no body. */
function isEmpty({ type, properties = {} }: ReturnType<typeof plain>): boolean {
  return type === "object" && Object.keys(properties).length === 0;
}
