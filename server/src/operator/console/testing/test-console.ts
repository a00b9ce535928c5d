import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { expect, onTestFinished } from "vitest";
import { readConfig } from "../../../config/config.ts";
import type { Db } from "../../../database/database.ts";
import { testDatabase } from "../../../database/testing.ts";
import { recordLog } from "../../../logging/testing/record-log.ts";
import { announcer } from "../../../notifications/announcer.ts";
import { codeOf } from "../../../testing/factor-code.ts";
import { listRoutes } from "../../../testing/list-routes.ts";
import { addOperator } from "../../accounts/add-operator.ts";
import type { Diagnosis } from "../../doctor/diagnose.ts";
import { backgroundDiagnosis } from "../background-diagnosis.ts";
import { buildConsole } from "../build-console.ts";

export const consoleUrl = "http://localhost:3100";
export const secret = Buffer.from("a secret of the test, long enough");
export const cli = { actor: "cli:test", reason: "" };
const password = "good password 1";

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly db?: Db;
  readonly url?: string;
  readonly diagnose?: () => Promise<Diagnosis>;
}

/** The console on a real database, with a second factor unless `env` says otherwise, and browsers that call it. */
export async function testConsole({ env = {}, db: given, url = consoleUrl, diagnose = nothingFound }: Options = {}) {
  const database = given ? undefined : await testDatabase();
  const db = given ?? (database as NonNullable<typeof database>).db;
  const { log, errors } = recordLog();
  const config = readConfig({ OPERATOR_PORT: "3100", OPERATOR_SECOND_FACTOR: "true", ...env });
  const dist = makeDist();
  const diagnosis = backgroundDiagnosis(diagnose, log);
  const announce = announcer({ appUrl: "http://localhost:3000", brandName: "Berth" });
  const needsSecondFactor = config.console?.needsSecondFactor ?? true;
  const stopListing = listRoutes();
  const app = await buildConsole({
    ...{ config, db, secret, needsSecondFactor, url, announce, diagnosis, log, dist },
    appUrl: "http://localhost:3000",
  });
  const routes = stopListing();
  onTestFinished(async () => {
    await app.close();
    await diagnosis.settled();
    await database?.close();
    rmSync(dist, { recursive: true });
  });

  const browser = (remoteAddress?: string) => browserOf(app, url, remoteAddress);

  /** An operator who followed the link, with the secret of the second factor and the recovery codes. */
  async function enrol(email = "ada@berth.example") {
    const link = await addOperator(db, email, cli);
    const own = browser();
    const { second_factor } = await own.must("POST", "link/open", { link });
    const code = second_factor ? codeOf(second_factor.secret) : "";
    const { recovery_codes } = await own.must("POST", "link/spend", { link, password, code });
    return { ...own, email, password, link, secret: second_factor?.secret as string, recoveryCodes: recovery_codes };
  }

  return { app, db, routes, browser, enrol, errors };
}

/** A browser with its own cookies. */
function browserOf(app: FastifyInstance, url: string, remoteAddress = "192.0.2.1") {
  const cookies = new Map<string, string>();
  const call = async (
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    payload?: object,
    headers: object = {},
  ) => {
    const reply = await app.inject({
      method,
      url: path.startsWith("/") ? path : `/operator/api/${path}`,
      remoteAddress,
      headers: {
        host: new URL(url).host,
        ...(method !== "GET" && { origin: new URL(url).origin }),
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...headers,
      },
      ...(payload && { payload }),
    });
    for (const { name, value } of reply.cookies) cookies.set(name, value);
    return reply;
  };
  const must = async (...args: Parameters<typeof call>) => {
    const reply = await call(...args);
    expect(reply.statusCode, `${args[1]}: ${reply.body}`).toBe(200);
    return reply.json();
  };
  return { call, must, cookies };
}

async function nothingFound(): Promise<Diagnosis> {
  return { notes: [], findings: [] };
}

function makeDist(): string {
  const dist = mkdtempSync(join(tmpdir(), "berth-console-"));
  mkdirSync(join(dist, "assets"));
  writeFileSync(join(dist, "index.html"), "<title>{{BRAND_NAME}} operator</title><script>1</script>");
  writeFileSync(join(dist, "assets", "main-abc.js"), "1");
  return dist;
}
