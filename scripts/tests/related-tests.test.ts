import { execFileSync } from "node:child_process";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sourceFiles } from "../checks/source-files.ts";
import { beyondImports, relatedTests } from "./related-tests.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const paths = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
const files = sourceFiles(root);
const related = (...changed: string[]) => relatedTests(changed, files, paths);

test("a change of settle-payment.ts: its tests, its callers' and its folder's, but not all that build the app", () => {
  const { unit, browser, further } = related("server/src/payments/settlement/settle-payment.ts");
  expect(unit).toContain("server/src/payments/settlement/settle-payment.test.ts");
  expect(unit).toContain("server/src/payments/settlement/webhook-route.test.ts");
  expect(unit).toContain("server/src/payments/orders/order-poller.test.ts");
  expect(unit).not.toContain("server/src/gateway/rights.test.ts");
  expect(unit.length).toBeLessThan(40);
  expect([browser, further > 20]).toEqual([[], true]);
});

test("a changed test is run, whatever it imports; one of pods never", () => {
  expect(related("web/src/format.test.ts", "e2e/toasts.spec.ts")).toMatchObject({
    unit: expect.arrayContaining(["web/src/format.test.ts"]),
    browser: ["e2e/toasts.spec.ts"],
  });
  expect(related("server/src/drivers/driver.ts").unit.filter((path) => path.includes("kubernetes"))).toEqual([]);
});

test("what no import shows: a migration, a page of the documentation, a screen", () => {
  expect(related("server/src/database/migrations/0001_initial.sql").unit).toContain(
    "server/src/database/database.test.ts",
  );
  expect(related("docs/use/files.md").unit).toContain("scripts/pages/broken-links.test.ts");
  expect(related("web/src/dashboard/dashboard.css").browser).toEqual(["e2e/specification/2-dashboard.spec.ts"]);
});

test.each(beyondImports)("%s: the files and their tests exist", (changed, tests) => {
  for (const glob of [changed, ...tests])
    expect(
      paths.filter((path) => matchesGlob(path, glob)),
      glob,
    ).not.toEqual([]);
});
