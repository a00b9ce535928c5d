import { everyState, showContainers } from "./testing/containers.ts";
import { expect, test } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

test("commands find screens, environments and actions by keyboard, and shortcuts can be turned off (G341)", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await showContainers(page, everyState);
  await page.route("**/docker/pause_container/**", (route) => route.fulfill({ json: { status: "success" } }));
  await page.goto("/dashboard");
  const field = page.getByRole("combobox", { name: "Search screens, environments and actions" });
  await expect(page.getByText("Total containers")).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await expect(page.getByRole("option", { name: "thesis" })).toBeVisible();
  await checkScreen(page, "commands", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.type("pause thesis");
  await expect(page.getByRole("option")).toHaveText(["Pause thesis"]);
  const paused = page.waitForRequest("**/docker/pause_container/2b3f9c27b0d4e5a6/**");
  await page.keyboard.press("Enter");
  await paused;
  await expect(toastOf(page, "Environment thesis paused")).toBeVisible();

  // The address would take the permit at once.
  await page.context().route(/^http:\/\/thesis\.localhost/, (route) => route.fulfill({ body: "" }));
  const opening = page.waitForEvent("popup");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("open session thesis");
  await page.keyboard.press("Enter");
  await (await opening).close();
  // It signs in without asking, like the button (G301).
  expect(await page.evaluate(() => localStorage.getItem("opening"))).toContain("thesis");

  await page.keyboard.press("Control+k");
  await page.keyboard.type("nothing has this");
  await expect(page.getByText("Nothing has these words.")).toBeVisible();
  await field.fill("bill");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/billing");
  await expect(field).toBeHidden();

  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(keys).toContainText("Go to Environments");
  await checkScreen(page, "shortcuts", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.waitForURL("**/environments");
  const search = page.getByRole("textbox", { name: "Search environments" });
  await expect(search).toBeVisible();
  await page.keyboard.press("/");
  await expect(search).toBeFocused();
  // In a field a key is a letter.
  await page.keyboard.type("g?");
  await expect(search).toHaveValue("g?");

  await page.getByRole("button", { name: "Commands" }).focus();
  await page.keyboard.press("?");
  await keys.getByRole("switch", { name: "Keys without Ctrl work" }).press("Space");
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await expect(field).toBeFocused();
  await expect(keys).toBeHidden();
});
