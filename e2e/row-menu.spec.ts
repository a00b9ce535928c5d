import { everyState, showContainers } from "./testing/containers.ts";
import { expect, test } from "./testing/test.ts";

test("a row's menu takes the focus once, so that a key pressed at once keeps its effect", async ({
  page,
  customer: _,
}) => {
  await showContainers(page, everyState);
  await page.goto("/environments");
  await page.getByRole("button", { name: "More actions for resnet-lab" }).focus();
  await page.evaluate(() => {
    const focused: (string | null)[] = [];
    document.addEventListener("focusin", ({ target }) => {
      if (!(target instanceof HTMLElement) || !target.closest("[role=menu]")) return;
      focused.push(target.textContent);
      document.body.dataset["focused"] = focused.join(", ");
      const end = new KeyboardEvent("keydown", { key: "End", bubbles: true, cancelable: true });
      if (focused.length === 1) queueMicrotask(() => target.dispatchEvent(end));
    });
  });
  await page.keyboard.press("Enter");
  const terminate = page.getByRole("menuitem", { name: "Terminate" });
  await expect(terminate).toBeFocused();
  // Timers of the opening menu have run after two frames and a task.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50)))),
  );
  await expect(terminate).toBeFocused();
  await expect(page.locator("body")).toHaveAttribute("data-focused", "Copy address, Terminate");
});
