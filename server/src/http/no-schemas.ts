import type { FastifyServerOptions } from "fastify";

/** For every server: calls are checked by the contract, so Fastify's own validator, a hundred modules, is never loaded. */
export const noSchemas: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: { buildValidator: () => refuse, buildSerializer: () => refuse },
};

/** Runs at the start: a route with a JSON schema would be served unchecked. */
function refuse(): never {
  throw new Error("a route has a JSON schema: describe what it takes in the contract");
}
