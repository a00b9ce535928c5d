import { errorStatus } from "@berth/contract";
import { allEndpoints } from "../../server/src/http/api-document.ts";
import { fieldsOf, type Schema } from "./fields-of.ts";

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** As server/src/system-tests/api-examples.test.ts has written it. */
interface Example {
  readonly url: string;
  readonly body?: unknown;
  readonly reply?: unknown;
}

export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The reference of the API as Markdown, one page for each tag of the OpenAPI document, by file relative to docs/. */
export function apiPages(
  { tags, paths }: ApiDocument,
  examples: Readonly<Record<string, Example>>,
): ReadonlyMap<string, string> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  return new Map(
    tags.map(({ name: tag }) => {
      const own = operations.filter(({ operation }) => operation.tags.includes(tag));
      const sections = own.map(({ name, operation }) => sectionOf(name, operation, examples[name]));
      const lead = `The calls about ${tag.toLowerCase()}, as \`/openapi.json\` describes them. Every example was run.`;
      return [`develop/api-${tag.toLowerCase()}.md`, [`# API: ${tag}`, lead, ...sections].join("\n\n")] as const;
    }),
  );
}

function sectionOf(name: string, operation: Operation, example: Example | undefined): string {
  const reply = operation.responses["200"]?.content ?? {};
  const needs = operation.security.length > 0 ? "Needs an ID token." : "Public.";
  return [
    `## ${name}`,
    `${readable(operation.summary)}. ${needs}`,
    ...tableOf("Body", operation.requestBody?.content["application/json"]?.schema),
    ...tableOf("Reply", reply["application/json"]?.schema),
    ...Object.keys(reply).flatMap((media) => (media === "application/json" ? [] : [`Replies with a file: ${media}.`])),
    refusalsOf(name),
    ...(example ? exampleOf(name, operation, example) : []),
  ].join("\n\n");
}

/** Without the numbers of decisions, which are for those who work on the code. */
function readable(summary: string): string {
  return summary.replaceAll(/ \((?:G\d+|spec [\d.]+)(?:, (?:G\d+|spec [\d.]+))*\)/g, "");
}

function tableOf(title: string, schema: Schema | undefined): readonly string[] {
  const variants = schema?.anyOf ?? (schema ? [schema] : []);
  return variants.flatMap((variant) => {
    const rows = fieldsOf(variant).map(
      ({ name, type, required }) => `| \`${name}\` | ${type}${required ? "" : ", optional"} |`,
    );
    return rows.length === 0 ? [] : [[`| ${title} | Type |`, "|---|---|", ...rows].join("\n")];
  });
}

function refusalsOf(name: string): string {
  const endpoint = allEndpoints().find(({ method, path }) => `${method} ${path}` === name);
  const codes = [...(endpoint?.errors ?? []), "invalid_request", "rate_limited"] as (keyof typeof errorStatus)[];
  const all = endpoint?.auth === "bearer" ? [...codes, "unauthenticated" as const] : codes;
  return `Refusals: ${all.map((code) => `\`${code}\` (${errorStatus[code]})`).join(", ")}.`;
}

function exampleOf(name: string, operation: Operation, { url, body, reply }: Example): readonly string[] {
  const [method = "GET"] = name.split(" ");
  const lines = [
    `curl -X ${method} https://berth.example${url}`,
    ...(operation.security.length > 0 ? ['  -H "authorization: Bearer $ID_TOKEN"'] : []),
    ...(body === undefined ? [] : ['  -H "content-type: application/json"', `  -d '${JSON.stringify(body)}'`]),
  ];
  const request = `\`\`\`sh\n${lines.join(" \\\n")}\n\`\`\``;
  return reply === undefined ? [request] : [request, `\`\`\`json\n${JSON.stringify(reply, null, 2)}\n\`\`\``];
}
