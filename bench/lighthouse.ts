import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { must } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import { median } from "./quantiles.ts";

const rounds = 5;
const cache = fileURLToPath(new URL("../node_modules/.cache/berth/lighthouse", import.meta.url));
const categories = ["performance", "accessibility", "best-practices", "seo"] as const;

/** Lighthouse mobile on the prerendered pages: the median of five (G104). Installed on first use, not a dependency. */
export async function run(): Promise<void> {
  const program = join(cache, "node_modules", "lighthouse", "cli", "index.js");
  if (!existsSync(program)) {
    spawnSync("npm", ["install", "--prefix", cache, "--no-audit", "--no-fund", "--loglevel=error", "lighthouse@12"], {
      stdio: "inherit",
    });
  }
  const product = await startProduct({ env: { RUNTIME: "fake" } });
  try {
    for (const path of await publicPaths(product.url)) {
      const scores = Array.from({ length: rounds }, () => measure(program, product.url + path, product.dataDir));
      for (const category of categories) {
        const all = scores.map((score) => score[category] ?? 0);
        console.log(`${path.padEnd(18)} ${category.padEnd(16)} ${median(all)}   (${all.join(", ")})`);
      }
    }
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

/** The pages of the sitemap. */
async function publicPaths(url: string): Promise<string[]> {
  const sitemap: string = await must(url, "GET", "/sitemap.xml");
  return [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = ""]) => new URL(address).pathname);
}

function measure(program: string, url: string, folder: string): Record<string, number> {
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
