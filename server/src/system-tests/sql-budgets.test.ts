import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type TestUser, testApp } from "../testing/test-app.ts";
import { countStatements, excessOf, type Statements, sumOf } from "./testing/count-statements.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const path = `${root}server/src/system-tests/sql-budgets.json`;
const budgets: Record<string, Statements> = JSON.parse(readFileSync(path, "utf8"));
const hint = "Is it worth that? Then UPDATE_BUDGETS=1 npx vitest run server/src/system-tests/sql-budgets.test.ts";

/** The reads of the screens that are opened most. */
const reads: Readonly<Record<string, (userId: string) => string>> = {
  "environments and dashboard": (id) => `/profile/${id}`,
  billing: (id) => `/billing/${id}`,
  settings: (id) => `/settings/${id}`,
  notifications: () => "/notifications",
  credits: () => "/credits",
  "unpaid orders": () => "/unpaid-orders",
  capacity: () => "/capacity",
  status: () => "/status",
};

test("a launch from create_order to active, and each screen's reads, send no statement beyond their budgets", async () => {
  const { deliver, rent, signUp, call } = await testApp();
  const stop = deliver();
  const count = countStatements();
  const launches: Statements[] = [];
  let user: TestUser | undefined;
  for (const subdomain of ["one", "two", "three", "four", "five", "six"].map((name) => `launch-${name}`)) {
    const customer = await signUp();
    launches.push(await count(() => rent(customer, { subdomain, gpu_count: 1 })));
    user = customer;
  }
  await stop();
  const found: Record<string, Statements> = { launch: leastOf(launches) };
  for (const [name, url] of Object.entries(reads)) {
    const read = () => call("GET", url(user?.id ?? ""), user?.token);
    expect((await read()).statusCode, name).toBe(200);
    found[name] = leastOf([await count(read), await count(read), await count(read)]);
  }
  if (process.env["UPDATE_BUDGETS"]) write(found);
  for (const [name, statements] of Object.entries(found)) {
    const excess = excessOf(statements, budgets[name]);
    const sums = `${name}: ${sumOf(statements)} statements, the budget has ${sumOf(budgets[name] ?? {})}. Beyond it:`;
    expect(excess, [sums, ...excess, hint].join("\n")).toEqual([]);
  }
});

/** How often each statement is sent every time: time only adds passes of loops and reads of the call that waits. */
function leastOf([first = {}, ...others]: readonly Statements[]): Statements {
  const least = Object.entries(first).map(
    ([text, count]) => [text, Math.min(count, ...others.map((other) => other[text] ?? 0))] as const,
  );
  return Object.fromEntries(least.filter(([, count]) => count > 0));
}

/** Raises budgets: some statements depend on time, so a few runs find the most that is usual. `{}` in the file begins anew. */
function write(found: Readonly<Record<string, Statements>>): void {
  for (const [name, statements] of Object.entries(found)) {
    const budget = { ...budgets[name] };
    for (const [text, count] of Object.entries(statements)) budget[text] = Math.max(count, budget[text] ?? 0);
    budgets[name] = budget;
  }
  const biome = `${root}node_modules/.bin/biome`;
  const options = { input: JSON.stringify(budgets), encoding: "utf8", cwd: root } as const;
  writeFileSync(path, execFileSync(biome, ["format", `--stdin-file-path=${path}`], options));
}
