import { expect, test } from "vitest";
import { appUrl, testApp } from "../testing/test-app.ts";

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, unknown>;
}

interface Schema {
  readonly properties?: object;
  readonly required?: readonly string[];
  readonly anyOf?: unknown;
}

async function document() {
  const { app, routes } = await testApp();
  const answer = await app.inject("/openapi.json");
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  const { paths, ...about } = answer.json();
  const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ where: `${method.toUpperCase()} ${path}`, ...operation })),
  );
  const endpoints = new Map(
    routes.flatMap(({ config }) =>
      config?.endpoint ? [[`${config.endpoint.method} ${config.endpoint.path}`, config.endpoint]] : [],
    ),
  );
  return { about, operations, endpoints };
}

test("the OpenAPI document has contact, server and licence", async () => {
  const { about } = await document();
  expect(about.openapi).toBe("3.1.0");
  expect(about.servers).toEqual([{ url: appUrl }]);
  expect(about.info).toMatchObject({
    title: "Berth",
    description: expect.stringMatching(/\w+/),
    contact: { name: "Berth", email: "hello@berth.example" },
    license: { identifier: "Apache-2.0" },
  });
});

test("every operation has a unique id, a known tag and its security scheme", async () => {
  const { about, operations, endpoints } = await document();
  expect(operations.map(({ where }) => where).sort()).toEqual([...endpoints.keys()].sort());
  const ids = operations.map(({ operationId }) => operationId);
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  expect(new Set(ids).size).toBe(ids.length);
  const known = about.tags.map(({ name }: { name: string }) => name);
  for (const { where, tags, security, summary } of operations) {
    expect(summary, where).toMatch(/\w+ \w+/);
    expect(tags, where).toHaveLength(1);
    expect(known, where).toContain(tags?.[0]);
    expect(security, where).toEqual(endpoints.get(where)?.auth === "bearer" ? [{ bearer: [] }] : []);
  }
});

test("an operation without a body has none, and an optional body is not required", async () => {
  const { operations, endpoints } = await document();
  for (const { where, requestBody } of operations) {
    const schema = requestBody?.content["application/json"]?.schema;
    const takesNothing = endpoints.get(where)?.body.safeParse({}).success;
    if (requestBody === undefined) expect(takesNothing, where).toBe(true);
    else expect(requestBody.required, where).toBe(!takesNothing);
    if (schema) expect(Object.keys(schema.properties ?? {}).length > 0 || schema.anyOf !== undefined, where).toBe(true);
  }
  const bodies = new Map(operations.map(({ where, requestBody }) => [where, requestBody]));
  expect(bodies.get("POST /auth/logout")).toBeUndefined();
  expect(bodies.get("DELETE /environments/queue")).toBeUndefined();
  expect(bodies.get("PUT /settings/{user_id}/flags")?.required).toBe(false);
  expect(bodies.get("POST /settings/{user_id}/password")?.required).toBe(true);
});
