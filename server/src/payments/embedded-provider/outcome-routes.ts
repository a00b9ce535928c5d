import type { FastifyInstance } from "fastify";
import * as z from "zod";
import type { Db } from "../../database/database.ts";
import type { OperatorPages } from "../../http/operator-pages.ts";
import { pageQuery, sendPage } from "./checkout-routes.ts";
import { DialectError } from "./dialect-error.ts";
import { chooseOutcome, outcomeNames } from "./outcomes.ts";
import { outcomesPage, welcomePage } from "./outcomes-page.ts";
import { dialectIdText, readInput } from "./read-input.ts";

const path = z.object({ id: dialectIdText });
const body = z.object({ outcome: z.enum(outcomeNames as [string, ...string[]]) });

interface OutcomeRoutesDeps {
  readonly db: Db;
  readonly local: OperatorPages;
}

/** Chooses the outcome of an order, on the operator's page (G110) or by a merchant call. */
export function outcomeRoutes(app: FastifyInstance, { db, local }: OutcomeRoutesDeps): void {
  app.get("/test", async (request, reply) => {
    if (!local.isOpenTo(request)) throw pageNotFound();
    if (local.exchange(request, reply)) return reply;
    const query = readInput(pageQuery, request.query);
    const { order_id: orderId, scheme } = query;
    if (orderId === "") {
      sendPage(reply);
      return welcomePage(scheme);
    }
    const found = db.selectFrom("embedded_gateway_orders").select("outcome").where("id", "=", orderId);
    const order = await found.executeTakeFirst();
    if (!order) throw unknown();
    sendPage(reply);
    return outcomesPage({ orderId, chosen: order.outcome, query: String(new URLSearchParams(query)), scheme });
  });

  app.put("/test/orders/:id/outcome", async (request) => {
    if (!local.isOpenTo(request) && !request.isOwnCall)
      throw new DialectError("The api key provided is invalid", { httpStatus: 401 });
    const { id } = readInput(path, request.params);
    const { outcome } = readInput(body, request.body);
    if (!(await chooseOutcome(db, id, outcome))) throw unknown();
    return { id, outcome };
  });
}

function unknown(): DialectError {
  return new DialectError("The id provided does not exist");
}

function pageNotFound(): DialectError {
  return new DialectError("The requested URL was not found on the server", { httpStatus: 404 });
}
