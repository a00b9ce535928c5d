import { expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

test("a host is drained and undrained; each act needs a reason, which the audit shows", async ({ operator, page }) => {
  await openScreen(page, "/hosts", "Hosts");
  const host = page.getByRole("region", { name: "Hosts" }).getByRole("row", { name: /^local/ });
  await expect(host).toContainText("In service");
  await checkScreen(page, "console-hosts");
  await page.getByRole("button", { name: "Stop new rentals local" }).click();
  const dialog = page.getByRole("dialog", { name: "Stop new rentals local" });
  await expect(dialog.getByRole("button", { name: "Stop new rentals" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("  ");
  await expect(dialog.getByRole("button", { name: "Stop new rentals" })).toBeDisabled();
  await checkScreen(page, "console-act", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByLabel("Reason").fill("Its fan is loud");
  await dialog.getByRole("button", { name: "Stop new rentals" }).click();
  await expect(host).toContainText("No new rentals since");
  await expect(host.getByRole("img", { name: /^local-slot-1: free, but draining$/ })).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await page.getByRole("button", { name: "Rent again local" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("The fan is new");
  await page.getByRole("dialog").getByRole("button", { name: "Rent again" }).click();
  await expect(host).toContainText("In service");
  await page.getByRole("link", { name: "Audit" }).click();
  await expect(page.getByRole("row", { name: new RegExp(`${operator}.*host.undrain.*The fan is new`) })).toBeVisible();
  await expect(page.getByRole("row", { name: /host.drain.*Its fan is loud/ })).toBeVisible();
});

test("a GPU is quarantined with its reason beside it, and released", async ({ operator: _, page }) => {
  await openScreen(page, "/hosts", "Hosts");
  const cell = page.getByRole("list", { name: "Slots of local" }).getByRole("img").first();
  await expect(cell).toHaveAccessibleName(/^local-slot-1: free$/);
  const list = page.getByRole("region", { name: "Slots" });
  await list.getByText("Slots in a list").click();
  const gpu = list.getByRole("row").nth(1);
  await expect(gpu).toContainText("Free");
  await gpu.getByRole("button", { name: /^Quarantine/ }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("Its memory has errors");
  await page.getByRole("dialog").getByRole("button", { name: "Quarantine" }).click();
  await expect(gpu).toContainText("Its memory has errors");
  await expect(cell).toHaveAccessibleName(/^local-slot-1: faulty, Its memory has errors$/);
  await checkScreen(page, "console-gpu-quarantined");
  await gpu.getByRole("button", { name: /^Release/ }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("It was replaced");
  await page.getByRole("dialog").getByRole("button", { name: "Release" }).click();
  await expect(gpu).toContainText("Free");
});

test("a host that does not answer is given up when its name is typed, and a refused act says why", async ({
  desk,
  operator: _,
  page,
}) => {
  const far = {
    kind: "docker",
    isolation: "container",
    address: "ssh://berth@10.0.0.5",
    home_root: "/srv/homes",
  } as const;
  const row = { ...far, id: "far-1", reach: "10.0.0.5", away_since: new Date() };
  await desk.db.insertInto("hosts").values(row).execute();
  const home = { id: "far-home", home: "ada-lab", host_id: "far-1", user_id: "ada", subdomain: "lab" };
  await desk.db.insertInto("homes").values(home).execute();
  await openScreen(page, "/hosts", "Hosts");
  const host = page.getByRole("row", { name: /^far-1/ });
  await expect(host).toContainText("Silent since");
  await page.getByRole("button", { name: "Give up far-1" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("The files of 1 home there are lost");
  await dialog.getByLabel("Reason").fill("It burnt down");
  await dialog.getByLabel("Type far-1 to confirm").fill("far-2");
  await expect(dialog.getByRole("button", { name: "Give up" })).toBeDisabled();
  await dialog.getByLabel("Type far-1 to confirm").fill("far-1");
  await checkScreen(page, "console-give-up", { fullPage: false, stays: "[role=dialog]" });
  await desk.db.updateTable("hosts").set({ away_since: null }).where("id", "=", "far-1").execute();
  await dialog.getByRole("button", { name: "Give up" }).click();
  await expect(dialog.getByRole("alert")).toContainText("far-1 answered at its last check");
  await desk.db.updateTable("hosts").set({ away_since: new Date() }).where("id", "=", "far-1").execute();
  await dialog.getByRole("button", { name: "Give up" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(host).toContainText("Lost since");
});

test("no host yet, and machines that could not be read", async ({ operator: _, page }) => {
  await page.route("**/operator/api/hosts", (route) =>
    route.fulfill({ json: { status: "success", hosts: [], gpus: [] } }),
  );
  await openScreen(page, "/hosts", "Hosts");
  await expect(page.getByText("There is no host yet")).toBeVisible();
  await checkScreen(page, "console-hosts-empty");
  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/hosts", (route) => route.fulfill({ status: 403, json }));
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("The machines could not be read");
});
