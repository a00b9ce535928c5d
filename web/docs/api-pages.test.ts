import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allEndpoints, apiDocument } from "../../server/src/http/api-document.ts";
import { type ApiDocument, apiPages } from "./api-pages.ts";
import { fieldsOf } from "./fields-of.ts";
import { readDocs } from "./read-docs.ts";

const folder = join(import.meta.dirname, "..", "..", "docs");
const examples = JSON.parse(readFileSync(join(folder, "develop", "api-examples.json"), "utf8"));

test("every call of the API has its section with refusals and an example", async () => {
  const pages = apiPages((await apiDocument()) as ApiDocument, examples);
  const sections = [...pages.values()].flatMap((page) => page.split("\n## ").slice(1));
  const names = sections.map((section) => section.split("\n", 1)[0]);
  expect(names.toSorted()).toEqual(
    allEndpoints()
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  );
  for (const section of sections) expect(section).toMatch(/Refusals: `\w+` \(\d+\).*```sh\ncurl -X/s);
  const order = sections.find((section) => section.startsWith("POST /docker/payments/create_order"));
  expect(order).toContain(
    "Re-quotes, holds GPUs and name for 15 minutes and opens an order at the payment provider. Needs",
  );
  expect(order).toContain("| `container_request.subdomain` | string |");
  expect(order).toContain("`out_of_stock` (409)");
});

test("its pages are served among those of their part", async () => {
  const docs = readDocs(folder, apiPages((await apiDocument()) as ApiDocument, examples));
  const paths = docs.parts.at(-1)?.pages.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["/docs/develop/api-orders", "/docs/develop/signing-in"]));
});

test("fields are named with the names around them; null, lists, records and sets are told", () => {
  const schema = {
    required: ["list"],
    properties: {
      list: { type: "array", items: { type: "object", properties: { at: { type: "string", format: "date-time" } } } },
      maybe: { anyOf: [{ type: "object", properties: { a: { const: 1 } } }, { type: "null" }] },
      record: { type: "object", additionalProperties: { type: "object", properties: { b: { enum: ["x", "y"] } } } },
    },
  };
  expect(fieldsOf(schema).map(({ name, type, required }) => [name, type, required])).toEqual([
    ["list", "array of object", true],
    ["list[].at", "time", false],
    ["maybe", "object or null", false],
    ["maybe.a", "`1`", false],
    ["record", "object", false],
    ["record.{key}.b", '`"x"`, `"y"`', false],
  ]);
});
