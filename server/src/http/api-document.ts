import type { AnyEndpoint, Catalogue } from "@berth/contract";
import * as contract from "@berth/contract";
import Fastify from "fastify";
import { describeApi } from "./describe-api.ts";
import { mount } from "./mount.ts";

/**
 * The OpenAPI document of all endpoints of the contract, without a running product. For the pages of the documentation, which
 * name no catalogue.
 */
export async function apiDocument(catalogue?: Catalogue): Promise<unknown> {
  const app = Fastify();
  describeApi(app, { title: "Berth", version: "0", appUrl: "https://berth.example", email: "", catalogue });
  for (const endpoint of allEndpoints()) mount(app, endpoint, unreachable);
  const document = (await app.inject("/openapi.json")).json();
  await app.close();
  return document;
}

/** The endpoints that the contract exports. */
export function allEndpoints(): readonly AnyEndpoint[] {
  return Object.values<unknown>(contract).filter(isEndpoint);
}

function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === "object" && value !== null && "method" in value && "path" in value && "summary" in value;
}

async function unreachable(): Promise<never> {
  throw new Error("only described, never called");
}
