import {
  actOnEnvironment,
  type EnvironmentAct,
  environmentsPerPage,
  type ListedEnvironment,
  type OperatedEnvironment,
  readOperatedEnvironment,
  searchEnvironments,
} from "@berth/contract/console/environments";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Author } from "../../audit/record-act.ts";
import { mount, success } from "../../http/mount.ts";
import { readHosts } from "../capacity/drain-host.ts";
import { unusedMoney } from "../orders/unused-money.ts";
import { readFindings } from "../rentals/mining-findings.ts";
import { type EnvironmentSummary, readEnvironments, showEnvironment } from "../rentals/read-environments.ts";
import { stopEnvironment, terminateEnvironment } from "../rentals/stop-environment.ts";
import { auditedAct } from "./audited-act.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

type EnvironmentDeps = Pick<ConsoleDeps, "db" | "announce">;

/** Environments from outside: what `operator -- environments` does. Never a look inside (G147). */
export function environmentRoutes(app: FastifyInstance, deps: EnvironmentDeps): void {
  const { db } = deps;
  mount(app, searchEnvironments, async ({ body: { text, status, host, before } }) => {
    const filter = {
      status: status === "living" ? undefined : status,
      host: host.trim() || undefined,
      text: text.trim() || undefined,
      before: before || undefined,
      limit: environmentsPerPage + 1,
    };
    const [rows, hosts] = await Promise.all([readEnvironments(db, filter), readHosts(db)]);
    return {
      ...{ ...success, hosts: hosts.map(({ id }) => id), more: rows.length > environmentsPerPage },
      environments: rows.slice(0, environmentsPerPage).map(listed),
    };
  });
  mount(app, readOperatedEnvironment, async ({ params: { id } }) => {
    const found = await showEnvironment(db, id);
    const { sessions, stages, orders, gpus, usage, audit } = found;
    const environment: OperatedEnvironment = {
      ...{ ...listed(found), gpus, usage, stages, orders, acts: audit.map(auditedAct) },
      sessions: sessions.map(({ opened_at, closed_at, ...session }) => ({
        ...{ ...session, opened_at: opened_at.toISOString(), closed_at: closed_at?.toISOString() ?? null },
      })),
      findings: onWire(await readFindings(db, { all: true, environmentId: id })),
      is_covered: orders[0]?.gateway === "credit",
      unused: found.status === "terminated" ? [] : await unusedMoney(db, orders),
    };
    return { ...success, environment };
  });
  mount(app, actOnEnvironment, async ({ params: { id, act }, body, request }) => {
    const author = authorOf(request, body.reason);
    return { ...success, message: await acts[act as EnvironmentAct](deps, id, body, author) };
  });
}

function listed(row: EnvironmentSummary): ListedEnvironment {
  const iso = (at: Date | null) => at?.toISOString() ?? null;
  const { requested_at, created_at, expires_at, terminated_at } = row;
  return {
    ...row,
    status: row.status as ListedEnvironment["status"],
    desired: row.desired as ListedEnvironment["desired"],
    ...{ requested_at: requested_at.toISOString(), created_at: iso(created_at) },
    ...{ expires_at: iso(expires_at), terminated_at: iso(terminated_at) },
  };
}

interface Given {
  readonly typed: string;
  readonly refund: boolean;
}

type Act = (deps: EnvironmentDeps, id: string, given: Given, author: Author) => Promise<string>;

/** Each returns the sentence that says what was done. */
const acts: Readonly<Record<EnvironmentAct, Act>> = {
  async stop(deps, id, _, author) {
    const isNew = await stopEnvironment(deps, id, author);
    const { subdomain } = await showEnvironment(deps.db, id);
    return isNew ? `${subdomain} stops; its owner is notified` : `${subdomain} is stopped already`;
  },
  async terminate(deps, id, { typed, refund }, author) {
    const { subdomain } = await showEnvironment(deps.db, id);
    if (typed !== subdomain) throw new AppError("invalid_request", `Type ${subdomain}, the name of the environment`);
    const isNew = await terminateEnvironment(deps, id, refund, author);
    const money = refund ? "its unused time is paid back" : "nothing is paid back";
    return isNew ? `${subdomain} ends; ${money}, and its owner is notified` : `${subdomain} ends already`;
  },
};
