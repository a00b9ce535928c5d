import assert from "node:assert/strict";
import { chromium, type Page } from "@playwright/test";
import { expect, storeSession } from "../../e2e/testing/test.ts";
import { browserPath } from "../../testing/browser.ts";
import { environment } from "../../testing/environment.ts";
import type { Labs } from "./setup-labs.ts";

const packages = ["tensorboard", "gradio", "streamlit"];
const waitMs = 120_000;

interface Program {
  readonly name: string;
  readonly port: number;
  /** What somebody does on its page, and has to see. */
  readonly use: (page: Page) => Promise<void>;
}

const upload = { name: "sample.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(5_000_000, 7) };

const programs: readonly Program[] = [
  {
    name: "tensorboard",
    port: 6006,
    async use(page) {
      await expect(page.getByText("loss-of-the-proof").first()).toBeVisible({ timeout: waitMs });
    },
  },
  {
    name: "gradio",
    port: 7860,
    async use(page) {
      await page.getByLabel("Name").fill("Ada");
      await page.getByRole("button", { name: "Greet" }).click();
      await expect(page.getByLabel("Greeting")).toHaveValue("Hello Ada 3", { timeout: waitMs });
      await page.locator("input[type=file]").setInputFiles(upload);
      await expect(page.getByLabel("Size")).toHaveValue("5000000 bytes", { timeout: waitMs });
    },
  },
  {
    name: "streamlit",
    port: 8501,
    async use(page) {
      const name = page.getByLabel("Name");
      await name.fill("Ada");
      await name.press("Enter");
      await expect(page.getByText("Hello Ada!")).toBeVisible({ timeout: waitMs });
      await page.locator("input[type=file]").setInputFiles(upload);
      await expect(page.getByText("sample.bin has 5000000 bytes")).toBeVisible({ timeout: waitMs });
    },
  },
];

/** TensorBoard, Gradio and Streamlit from PyPI, without a setting for where they are, each used in a browser at its own address. */
export async function openPrograms(labs: Labs): Promise<readonly string[]> {
  const { client, customer, product } = labs;
  await client.run("ssh", [client.host, `python -m venv apps && apps/bin/pip install -q ${packages.join(" ")}`]);
  await client.run("scp", [new URL("programs.py", import.meta.url).pathname, `${client.host}:programs.py`]);
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? browserPath(),
    args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu"],
  });
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
    await storeSession(context, product().url, customer);
    for (const { name, port, use } of programs) {
      const start = `nohup apps/bin/python programs.py ${name} > ${name}.log 2>&1 < /dev/null &`;
      await client.run("ssh", [client.host, start]);
      const page = await context.newPage();
      page.setDefaultTimeout(waitMs);
      const refused: string[] = [];
      page.on("response", (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      await openPort(labs, page, port);
      await use(page).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}\n${refused.join("\n")}`);
      });
      console.log(name, refused);
      await page.close();
    }
    const { stdout } = await client.run("ssh", [client.host, "apps/bin/pip list --format freeze"]);
    return packages.map((each) => stdout.split("\n").find((line) => line.startsWith(`${each}==`)) ?? each);
  } finally {
    await browser.close();
  }
}

/** By the app's button, until the program listens. */
async function openPort({ addresses: [address] }: Labs, page: Page, port: number): Promise<void> {
  assert.ok(address);
  const url = `http://${port}--${address.subdomain}.localhost:${address.port}/`;
  await page.goto(url);
  await page.getByRole("button", { name: `Open port ${port} of ${address.subdomain}` }).click();
  await page.waitForURL(`${url}**`);
  await expect.poll(async () => (await page.goto(url))?.status(), { timeout: waitMs, intervals: [1000] }).toBe(200);
}
