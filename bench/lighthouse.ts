import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../testing/cache-folder.ts";
import { must } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import type { Figure } from "./figure.ts";
import { openProduct } from "./processes.ts";

const rounds = 5;
const categories = ["performance", "accessibility", "best-practices", "seo"] as const;

/** Lighthouse mobile on the prerendered pages (G104). Installed on first use, not a dependency. */
export async function measure(): Promise<readonly Figure[]> {
  const program = join(cacheFolder, "lighthouse", "node_modules", "lighthouse", "cli", "index.js");
  if (!existsSync(program)) {
    const prefix = join(cacheFolder, "lighthouse");
    spawnSync("npm", ["install", "--prefix", prefix, "--no-audit", "--no-fund", "--loglevel=error", "lighthouse@12"], {
      stdio: "inherit",
    });
  }
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, { RUNTIME: "fake" });
  const figures: Figure[] = [];
  for (const path of await publicPaths(product.url)) {
    const scores = Array.from({ length: rounds }, () => scoresOf(program, product.url + path, product.dataDir));
    for (const category of categories)
      figures.push({
        ...{ name: `lighthouse, ${category} of ${path}`, unit: "points" },
        samples: scores.map((score) => score[category] ?? 0),
      });
  }
  return figures;
}

/** The pages of the sitemap. */
async function publicPaths(url: string): Promise<string[]> {
  const sitemap: string = await must(url, "GET", "/sitemap.xml");
  return [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = ""]) => new URL(address).pathname);
}

function scoresOf(program: string, url: string, folder: string): Record<string, number> {
  const report = join(folder, "lighthouse.json");
  const flags =
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync";
  spawnSync(
    process.execPath,
    [program, url, "--quiet", "--output=json", `--output-path=${report}`, `--chrome-flags=${flags}`],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...environment.shell, CHROME_PATH: environment.chromium ?? "/usr/bin/chromium" },
    },
  );
  const { categories: found } = JSON.parse(readFileSync(report, "utf8"));
  return Object.fromEntries(categories.map((category) => [category, Math.round(found[category].score * 100)]));
}
