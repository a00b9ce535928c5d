import type { FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";

/** The signed-in user of a request, from its bearer token only (G42). */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** The token's sign-in; null where the provider has none. */
  readonly sessionId: string | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set in preParsing; undefined without a valid bearer token. */
    user?: User | undefined;
    /** Whether the server itself calls its embedded provider, by the merchant key: no limit of visitors counts that. */
    isOwnCall?: boolean;
  }
}

export function userOf(request: FastifyRequest): User {
  if (!request.user) throw new AppError("unauthenticated", "Sign in first");
  return request.user;
}

export function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

export function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? "").split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
