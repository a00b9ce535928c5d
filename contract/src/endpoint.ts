import type { output, ZodMiniType } from "zod/mini";
import type { ErrorCode } from "./errors.ts";

/** One call of the API, defined once for server and browser. */
export interface Endpoint<
  Path extends `/${string}`,
  Body extends ZodMiniType,
  Reply extends ZodMiniType,
  Auth extends "bearer" | "none" | "operator",
> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** OpenAPI notation: `/profile/{user_id}`. A `{user_id}` must be the token's subject. */
  readonly path: Path;
  /** `bearer`: a tenant's token. `operator`: a sign-in to the operator's console, which alone has such calls. */
  readonly auth: Auth;
  readonly summary: string;
  /** Allowed values of path parameters; other values match no route. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Allowed values of query parameters; the first is the default. Other values are `invalid_request`. */
  readonly query?: Readonly<Record<string, readonly [string, ...string[]]>>;
  readonly body: Body;
  /** Media type of a reply that is a file instead of JSON; `reply` is then `file` of wire.ts. */
  readonly media?: `${string}/${string}`;
  readonly reply: Reply;
  /** Error codes besides invalid_request, unauthenticated and rate_limited. */
  readonly errors: readonly ErrorCode[];
}

// biome-ignore lint/suspicious/noExplicitAny: the bound of a generic over every endpoint
export type AnyEndpoint = Endpoint<any, any, any, any>;

export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & PathParams<Rest>
  : Record<never, string>;

export interface Input<E extends AnyEndpoint> {
  readonly params: PathParams<E["path"]>;
  readonly body: output<E["body"]>;
  readonly query?: Readonly<Record<string, string>>;
}

export type ReplyOf<E extends AnyEndpoint> = output<E["reply"]>;

export function endpoint<
  Path extends `/${string}`,
  Body extends ZodMiniType,
  Reply extends ZodMiniType,
  Auth extends "bearer" | "none" | "operator",
>(definition: Endpoint<Path, Body, Reply, Auth>): Endpoint<Path, Body, Reply, Auth> {
  return definition;
}
