import type { AnyEndpoint } from "@berth/contract";
import { toJSONSchema } from "zod/mini";
import type { Random } from "../../testing/random.ts";
import { broken, jsonOf, type Schema, segments, types } from "./random-json.ts";

/** A route: its method, its path with parameters, their closed sets, and the schema of its body. */
export interface Road {
  readonly method: AnyEndpoint["method"];
  readonly path: string;
  readonly schema: Schema;
  readonly values?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Who sends: values that calls take from this user, and the headers that let them in. */
export interface Sender {
  readonly userId: string;
  readonly known: readonly unknown[];
  readonly ids: readonly string[];
  readonly headersFor: (road: Road) => Readonly<Record<string, string>>;
  /** A good body, for what hardly any drawn one would reach. */
  readonly goodBody: (road: Road) => unknown;
}

export interface FuzzRequest {
  readonly method: AnyEndpoint["method"];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string | Buffer;
  /** Whether it was sent as who may call. */
  readonly isSignedIn: boolean;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema }[];
}

/** The calls of `/openapi.json`. */
export function roadsOf(document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}): readonly Road[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase() as Road["method"],
      path,
      schema: requestBody?.content["application/json"]?.schema ?? {},
      values: Object.fromEntries(
        parameters.flatMap(({ name, schema }) => (schema.enum ? [[name, schema.enum as readonly string[]]] : [])),
      ),
    })),
  );
}

export function roadTo({ method, path, values, body }: AnyEndpoint): Road {
  return { method, path, values, schema: toJSONSchema(body, { io: "input" }) as Schema };
}

const dialect: Schema = {
  type: "object",
  properties: Object.fromEntries(
    [
      ...["email", "password", "token", "oobCode", "newPassword", "idToken", "grant_type", "refresh_token"],
      ...["key_id", "order_id", "method", "amount", "currency", "receipt", "notes", "speed", "capture"],
      ...["payment_id", "status", "phase", "mfaPendingCredential", "displayName", "outcome"],
    ].map((name) => [name, {}]),
  ),
};
const cardSchema: Schema = {
  type: "object",
  properties: {
    ...{ key_id: {}, order_id: {}, method: { const: "card" } },
    card: { type: "object", properties: { number: {}, cvv: {}, expiry_month: {}, expiry_year: {} } },
  },
};

/** A route that has no endpoint in the contract, as Fastify names it: `GET /archives/:code`. */
export function roadBeside(line: string): Road {
  const [method, url = ""] = line.split(" ");
  const path = url
    .replace("::", "\\")
    .replace(/:(\w+)/g, "{$1}")
    .replace("\\", ":");
  return { method: method as Road["method"], path, schema: url.endsWith("/checkout") ? cardSchema : dialect };
}

/** Requests of every shape along the roads. What replies name is used in later ones: ids, codes and tokens by their names. */
export function fuzzer(random: Random, roads: readonly Road[]) {
  const seen = seenTexts(random);
  return {
    learn: seen.learn,
    request(sender: Sender): FuzzRequest {
      const road = random.of(roads);
      const url = addressOf(random, road, sender, seen.of);
      const isSignedIn = random.chance(0.85);
      const headers: Record<string, string> = isSignedIn
        ? { ...sender.headersFor(road) }
        : { authorization: random.of(["Bearer", "Bearer x", "Basic !", "é", "Bearer ".repeat(500)]) };
      strangeHeaders(random, headers);
      if (road.method === "GET" && random.chance(0.9)) return { method: road.method, url, headers, isSignedIn };
      headers["content-type"] = random.chance(0.92) ? "application/json" : random.of(types);
      if (random.chance(0.03)) headers["content-encoding"] = random.of(["gzip", "br", "identity", "x", ""]);
      const good = random.chance(0.3) ? sender.goodBody(road) : undefined;
      const json = good === undefined ? jsonOf(random, road.schema, sender.known, seen.of) : JSON.stringify(good);
      const payload = bodyOf(random, json);
      return { method: road.method, url, headers, payload, isSignedIn };
    },
  };
}

function addressOf(random: Random, road: Road, { userId, ids }: Sender, seen: Seen): string {
  const path = road.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (random.chance(0.25)) return random.of(segments);
    const closed = road.values?.[name];
    if (closed) return random.of(closed);
    if (name === "user_id") return userId;
    return encodeURIComponent((random.chance(0.7) && seen(name)) || random.of(ids));
  });
  if (!random.chance(0.3)) return path;
  const pair = () =>
    `${random.of(["from", "count", "skip", "receipt", "order_id", "span", "month", "a[b]", "__proto__"])}=${random.of(segments)}`;
  return `${path}?${Array.from({ length: 1 + random.below(3) }, pair).join("&")}`;
}

function strangeHeaders(random: Random, headers: Record<string, string>): void {
  const strange: Readonly<Record<string, readonly string[]>> = {
    range: ["bytes=9-1", "bytes=99999-", "bytes=-1", "x", "bytes=0-0,1-1,5-9"],
    accept: ["text/html", "*/*;q=x", "text/html,application/json"],
    "if-match": ['"x"', "*", "\u00ff"],
    "x-refund-idempotency": ["é", "x".repeat(300), "0123456789"],
    "accept-encoding": ["gzip;q=0,*", "br, , ,", "x".repeat(2000)],
    "x-forwarded-for": ["1.2.3.4, ::1", "x", "999.1.1.1"],
    cookie: ["=", "a", "__Host-env=; env=%", `${"a=b; ".repeat(200)}`],
    "if-modified-since": ["x", "Thu, 01 Jan 1970 00:00:00 GMT"],
  };
  for (const [name, values] of Object.entries(strange)) if (random.chance(0.05)) headers[name] = random.of(values);
}

/** The text, or bytes that are no UTF-8, too many, in another encoding, or with fields twice. */
function bodyOf(random: Random, json: string): string | Buffer {
  if (random.chance(0.9)) return json;
  return random.of([
    () => random.of(broken),
    () => Buffer.from(json, "utf16le"),
    () => Buffer.concat([Buffer.from(json), Buffer.from([0xc3, 0x28, 0xff])]),
    () => Buffer.from(json.replaceAll("a", "\xe9"), "latin1"),
    () => json.replace(/^\{("[^"]+"):/, (_, name: string) => `{${name}:null,${name}:[],${name}:`),
    () => `${json}${" ".repeat(70_000)}`,
    () => json.slice(0, random.below(json.length + 1)),
  ])();
}

type Seen = (name: string) => string | undefined;

const kept = 40;
const longest = 2000;

/** Texts of replies by the name of their field; the newest of each. */
function seenTexts(random: Random) {
  const byName = new Map<string, string[]>();
  const add = (name: string, text: string) => {
    if (text.length > longest) return;
    const texts = byName.get(name) ?? [];
    texts.push(text);
    if (texts.length > kept) texts.shift();
    byName.set(name, texts);
  };
  const walk = (name: string, value: unknown, depth = 0): void => {
    if (typeof value === "string" && value !== "") add(name, value);
    if (typeof value !== "object" || value === null || depth > 6) return;
    // A field of many ids names its items in the plural, and an object its own.
    const singular = name.replace(/s$/, "");
    for (const [key, part] of Object.entries(value)) {
      walk(Array.isArray(value) ? singular : key, part, depth + 1);
      if (key === "id" && typeof part === "string") add(`${singular}_id`, part);
    }
  };
  return {
    learn(body: string): void {
      if (!body.startsWith("{")) return;
      try {
        walk("", JSON.parse(body));
      } catch {
        // It only began like JSON.
      }
    },
    /** By the parameter's name, else an id of anything. */
    of: (name: string): string | undefined => {
      const texts = byName.get(name) ?? byName.get("id");
      return texts && random.of(texts);
    },
  };
}
