import { create, must, orderAndPay, signUp, until } from "../../testing/customer.ts";
import { inHours } from "../testing/containers.ts";
import { failCalls, holdCalls } from "../testing/mock-calls.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible, toastOf } from "../testing/toasts.ts";
import { checkScreen } from "../testing/viewports.ts";

test("public pages and documents are accessible at both widths and in both schemes", async ({ page }) => {
  for (const path of [
    "/",
    "/terms-condition",
    "/refund",
    "/privacy-policy",
    "/legal-compliance",
    "/delivery-policy",
    "/nowhere",
  ]) {
    await page.goto(path);
    await checkScreen(page, `public${path.replace("/", "-")}`);
  }
});

test("the status page is accessible at both widths and in both schemes: empty, measured, unreadable (G38)", async ({
  page,
}) => {
  const counts = [1, 2, 4, 6, 8].map((gpu_count) => ({
    ...{ gpu_count, free: gpu_count < 4 },
    next_free_at: gpu_count === 4 || gpu_count === 6 ? inHours(2) : null,
  }));
  const times = [0.2, 0.3, 1.1, 6.8, 7.2];
  const stages = ["placed", "image", "started", "answering", "ready"].map((stage, index) => {
    const p50_ms = (times[index] ?? 0) * 1000;
    return { stage, p50_ms, p95_ms: p50_ms * 1.6 };
  });
  const cold = { count: 1284, p50_ms: 7200, p95_ms: 11_520, stages };
  const answer = {
    ...{ status: "success", since: "2026-11-03T09:00:00.000Z", days: 30, cold, warm: null },
    capacity: { kind: "gpu", total: 6, free: 3, counts },
  };
  const show = (json: object) =>
    page.route("**/status", (route) =>
      route.request().resourceType() === "document" ? route.continue() : route.fulfill({ json }),
    );
  await show({ ...answer, cold: null });
  await page.goto("/status");
  await expect(page.getByText("None yet", { exact: true })).toBeVisible();
  await checkScreen(page, "status-none");
  await page.unroute("**/status");
  await show(answer);
  await page.reload();
  await expect(page.getByText("1,284")).toBeVisible();
  await checkScreen(page, "status");
  await page.unroute("**/status");
  await failCalls(page, "**/status");
  await page.reload();
  await advanceUntilVisible(page, page.getByText("The figures cannot be read right now"));
  await checkScreen(page, "status-failed");
});

test("sign-in, sign-up and reset are accessible at both widths and in both schemes, including refusals", async ({
  page,
  product,
}) => {
  await page.goto("/login");
  await checkScreen(page, "login");
  const submit = page.locator("form").getByRole("button", { name: /^(Login|Sign Up)$/ });
  await submit.click();
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await checkScreen(page, "login-blank");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByLabel("Password", { exact: true }).fill("wrong wrong");
  await submit.click();
  await expect(toastOf(page, "Login Failed")).toBeVisible();
  await checkScreen(page, "login-failed", { fullPage: false });
  await page.goto("/signup");
  await checkScreen(page, "signup");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("one");
  await page.getByLabel("Confirm password").fill("two");
  await submit.click();
  await expect(page.getByText("Passwords do not match")).toBeVisible();
  await checkScreen(page, "signup-refused");

  await page.goto("/forgot-password");
  await checkScreen(page, "forgot");
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toastOf(page, "Email address cannot be empty")).toBeVisible();
  await checkScreen(page, "forgot-blank", { fullPage: false });
  const release = await holdCalls(page, "**/auth/reset-password");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await checkScreen(page, "forgot-sending", { stays: "[data-overlay]", fullPage: false });
  release();

  await page.goto("/reset-password");
  await expect(page.getByText("No reset link or token found!")).toBeVisible();
  await checkScreen(page, "reset-no-code");
  await page.goto("/reset-password?oobCode=never-made");
  await expect(page.getByText("Invalid or expired link.Request another one.")).toBeVisible();
  await checkScreen(page, "reset-invalid");
  await page.goto(await mailedLink(product, await signUp(product.url)));
  await page.getByLabel("New password", { exact: true }).fill("Half of it");
  await page.getByLabel("Confirm password", { exact: true }).fill("Half of it");
  await page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  await expect(page.getByText("Password does not meet security requirements")).toBeVisible();
  await checkScreen(page, "reset-checklist");
  await page.goto(product.operatorPage("/outbox"));
  await checkScreen(page, "outbox");
});

test("the gateway's pages are accessible at both widths and in both schemes (G74)", async ({
  page,
  product,
  customer,
}) => {
  test.setTimeout(120_000);
  const subdomain = `gateway-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 });
  const { environment_id: id } = (await create(product.url, customer, paid)).body;
  const post = (path: string, body: unknown) => must(product.url, "POST", path, { token: customer.idToken, body });
  const address = `http://${subdomain}.localhost:${product.port}/lab`;
  const look = async (url: string, action: string) => {
    await page.goto(url);
    const button = page.getByRole("button", { name: action });
    await expect(page.getByRole("link", { name: action }).or(button)).toBeVisible();
    const title = (await page.getByRole("heading").innerText()).toLowerCase();
    await checkScreen(page, `gateway-${title.replaceAll(" ", "-")}`);
  };
  const open = page.getByRole("button", { name: `Open ${subdomain}` });
  // A stop and an end sign everybody out.
  const signIn = async () => {
    await page.goto(address);
    await open.click();
    await page.waitForURL(`${address}**`);
  };
  const become = async (status: string, path: string, body: unknown) => {
    await post(path, body);
    await until(status, async () => {
      const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: customer.idToken });
      return environment.status === status;
    });
  };
  await become("paused", `/docker/pause_container/${id}/${customer.userId}`, {});
  await page.goto(address);
  await expect(open).toBeVisible();
  await checkScreen(page, "open");
  await open.click();
  await page.waitForURL(`${address}**`);
  await look(address, "Restart");
  await become("stopped", `/docker/stop_container/${id}/${customer.userId}`, {});
  await signIn();
  await look(address, "Restart");
  await become("terminated", `/environments/${id}/terminate`, { confirm: subdomain });
  await signIn();
  await look(address, "Launch again");
  await look(`http://nobody-here.localhost:${product.port}/lab`, "Go to dashboard");
  // Signed-in owners are forwarded.
  await page.context().clearCookies();
  await look(`http://${subdomain}.localhost:${product.port}/_berth/sign-in?code=spent`, "Open the environment");
});
