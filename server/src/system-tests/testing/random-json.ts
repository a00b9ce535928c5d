import type { Random } from "../../testing/random.ts";

export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** Raw JSON texts, also some that JSON.stringify never writes. */
const strange: readonly string[] = [
  ...["null", "true", "false", "0", "-0", "-1", "1.5", "1e308", "1e309", "-1e309", "5e-324", "9007199254740993"],
  ...["1e-7", "2147483648", "99999999999999999999999999", "[]", "{}", "[null]", '""', '" "', '"\\u0000"', '"\\ud800"'],
  ...['"\\udc00\\ud800"', '"🚀"', '"\\u202e"', '"\\ufeff"', '"%00"', '"%s%n"', '"../../etc/passwd"', `"';--"`],
  ...['"NaN"', '"constructor"', '{"toString":1}', '{"then":1}', '{"length":-1}', '"\\n"', '"ﬃ"', '"İ"', '"a@b.co"'],
  `"${"x".repeat(300)}"`,
  `"${"é".repeat(5000)}"`,
  `${"[".repeat(2000)}${"]".repeat(2000)}`,
  `${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`,
  `[${"0,".repeat(3000)}0]`,
];
export const broken: readonly string[] = [
  "{",
  "",
  "[",
  "nul",
  '{"a":1,}',
  "{'a':1}",
  "\ufeff{}",
  "{}{}",
  '"\\x"',
  '{"__proto__":{}}',
];
export const segments: readonly string[] = [
  ...["%00", "%ff", "%c0%af", "%ed%a0%80", "%F0%9F%9A%80", "%2e%2e%2f", "..", ".", "'", "%25", "%", "%0d%0a", "a%2fb"],
  ...["null", "undefined", "-1", "1e309", "x".repeat(99), "x".repeat(2000), "xn--lab", "{id}", "*", ":id", ";", "&"],
  ...["9007199254740991", "-9007199254740991"],
];
export const types: readonly string[] = [
  ...[
    "application/json; charset=utf-8",
    "application/json;charset=x",
    "text/plain",
    "application/x-www-form-urlencoded",
  ],
  ...["multipart/form-data", "application/json, text/html", "", "/", "application/JSON", "application/octet-stream"],
];

/** `seen` gives a text that a reply had in a field of this name. */
export function jsonOf(
  random: Random,
  schema: Schema,
  known: readonly unknown[],
  seen: (name: string) => string | undefined,
  field = "",
): string {
  if (random.chance(0.12)) return random.of(strange);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(random.of(schema.enum));
  if (schema.type === "object") {
    const parts = Object.entries(schema.properties ?? {})
      .filter(() => random.chance(0.96))
      .map(([name, part]) => `${JSON.stringify(name)}:${jsonOf(random, part, known, seen, name)}`);
    if (random.chance(0.1)) parts.push(`"more":${random.of(strange)}`);
    return `{${parts.join(",")}}`;
  }
  if (schema.type === "array")
    return `[${Array.from({ length: random.below(4) }, () => jsonOf(random, schema.items ?? {}, known, seen, field)).join(",")}]`;
  return JSON.stringify((random.chance(0.3) && seen(field)) || random.of(known));
}
