import { newId } from "../../server/src/database/new-id.ts";
import { signUp } from "../../testing/customer.ts";
import { seedHistory } from "../../testing/seed.ts";
import { type Desk, expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

/** The name of an environment in a state, in which the detector found something. */
async function suspect(
  { db }: Desk,
  userId: string,
  status: "active" | "paused",
  kind: "program" | "gpu",
  evidence: object,
) {
  const { id, subdomain, generation } = await db
    .selectFrom("environments")
    .selectAll()
    .where("user_id", "=", userId)
    .where("status", "=", status)
    .executeTakeFirstOrThrow();
  const found = { id: newId(), environment_id: id, user_id: userId, generation, kind };
  await db
    .insertInto("mining_findings")
    .values({ ...found, evidence: JSON.stringify(evidence) })
    .execute();
  return { id, name: subdomain };
}

test("what looks like mining is named in the morning, and dismissed or ended by a person with a reason (G69, G157)", async ({
  desk,
  operator,
  page,
}) => {
  const command = `./xmrig -o stratum+tcp://pool.example:3333 -u ${"4".repeat(95)}`;
  const customer = await signUp(desk.product.url);
  const { email, userId } = customer;
  await seedHistory(desk.product, customer, { count: 3, prefix: `lab-${userId.slice(0, 6)}` });
  const xmrig = { what: "the program xmrig runs", commands: [command] };
  const miner = await suspect(desk, userId, "active", "program", xmrig);
  const busy = { what: "1 GPU at 99 % for 75 minutes while nothing was done", commands: [] };
  const training = await suspect(desk, userId, "paused", "gpu", busy);
  await openScreen(page, "/", "Now");
  await expect(page.getByText("2 findings of the mining detector to decide")).toBeVisible();
  await page.getByRole("link", { name: "Judge" }).click();
  const section = page.getByRole("region", { name: "Looks like crypto mining" });
  const row = section.getByRole("row", { name: new RegExp(miner.name) });
  await expect(row).toContainText(email);
  await expect(page.getByText(command)).toBeHidden();
  await row.getByText("Command lines").click();
  await expect(page.getByText(command)).toBeVisible();
  await checkScreen(page, "console-mining");

  await section.getByRole("button", { name: `Dismiss ${training.name}` }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Dismiss" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("A training, started in a terminal");
  await dialog.getByRole("button", { name: "Dismiss" }).click();
  await expect(section.getByRole("row", { name: new RegExp(training.name) })).toHaveCount(0);

  await section.getByRole("link", { name: miner.name }).click();
  await expect(page.getByRole("heading", { name: miner.name })).toBeVisible();
  await checkScreen(page, "console-mining-one");
  await section.getByRole("button", { name: `End ${miner.name}` }).click();
  await dialog.getByLabel("Reason").fill("Crypto mining");
  await expect(dialog.getByRole("button", { name: "End" })).toBeDisabled();
  await dialog.getByLabel(`Type ${miner.name} to confirm`).fill(miner.name);
  await dialog.getByRole("button", { name: "End" }).click();
  await expect(section.getByText("Ended", { exact: true })).toBeVisible();
  await expect(page.getByRole("row", { name: /environment\.terminate.*Crypto mining/ })).toContainText("refund: false");
  await page.goto(`/operator/environments/${training.id}`);
  await expect(section).toContainText("No mining");
  await expect(page.getByRole("row", { name: /mining\.dismiss/ })).toContainText(operator);
  await page.goto("/operator/environments");
  await expect(page.getByRole("region", { name: "Environments" }).getByRole("row").first()).toBeVisible();
  await expect(section).toHaveCount(0);
});
