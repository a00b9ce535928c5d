import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { namedLimits } from "./named-limits.ts";

const folder = fileURLToPath(new URL("../../../docs", import.meta.url));
const now = new Date("2026-11-23T00:00:00Z");

test("every figure that a page names as a default is the default", () => {
  const named: Record<string, string> = { ...namedLimits(readConfig({}), now), RETENTION_DAYS: "30" };
  const found = globSync("**/*.md", { cwd: folder }).flatMap((page) => {
    const text = readFileSync(join(folder, page), "utf8");
    const figures = [...text.matchAll(/(\d[\d, or]*)<!-- ([A-Z_]+) -->/g)].map(([, value, name = ""]) => ({
      name,
      value,
    }));
    const lists = [...text.matchAll(/<!-- begin ([A-Z_]+) -->(.*?)<!-- \1 -->/g)];
    const listed = lists.map(([, name = "", value]) => ({ name, value }));
    return [...figures.filter(({ name }) => !listed.some((each) => each.name === name)), ...listed].map((each) => ({
      ...each,
      page,
    }));
  });
  for (const { page, name, value } of found) expect(value, `${page}: ${name}`).toBe(named[name]);
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(named)));
});

test("they follow the settings and the catalogue; the limits of the catalogue win", () => {
  const config = readConfig({ REQUESTS_PER_MINUTE: "50", LAUNCHES_PER_USER: "7" });
  const [version] = config.catalogue.prices;
  const rows = [1, 3].map((gpus) => ({ gpus, hourly: 1 }));
  const prices = [{ ...version, from: "2026-01-01", rows, hours: [5], currencies: version?.currencies ?? [] }];
  expect(namedLimits({ ...config, catalogue: { ...config.catalogue, prices } }, now)).toMatchObject({
    ...{ LAUNCHES_PER_USER: "7", REQUESTS_PER_MINUTE: "50", ACCOUNT_REQUESTS_PER_MINUTE: "100" },
    ...{ GPU_COUNTS: "1 or 3", HOURS: "5" },
    ...{ HOURLY_PRICES: "$1.00 with 1 GPU, $1.00 with 3", MONTHLY_PRICES: "not offered" },
  });
});
