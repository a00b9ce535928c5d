import { create, must, orderAndPay, send, signUp } from "../../testing/customer.ts";
import { expect, signIn, test } from "../testing/test.ts";

test("another user's objects get the same reply as unknown ones", async ({ page, context, product }) => {
  const [ada, ben] = [await signUp(product.url, "Ada"), await signUp(product.url, "Ben")];
  const name = `hers-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, ada, { subdomain: name, gpuCount: 1 });
  const { body } = await create(product.url, ada, paid);
  expect(body.status).toBe("active");
  const id: string = body.environment_id;
  const absent = "0".repeat(25);

  const asBen = (method: string, path: string, sent?: unknown) =>
    send(product.url, method, path, { token: ben.idToken, body: sent });
  const pairs: [string, string, string, unknown?][] = [
    ["GET", `/profile/${ada.userId}`, `/profile/${absent}`],
    ["GET", `/environments/${id}`, `/environments/${absent}`],
    ["POST", `/environments/${id}/sign-in-code`, `/environments/${absent}/sign-in-code`, {}],
    ["POST", `/environments/${name}/sign-in-code`, `/environments/no-such-name/sign-in-code`, {}],
    ["POST", `/environments/${id}/terminate`, `/environments/${absent}/terminate`, { confirm: name }],
    ["POST", `/environments/${id}/cancel`, `/environments/${absent}/cancel`, {}],
    ["POST", `/docker/stop_container/${id}/${ben.userId}`, `/docker/stop_container/${absent}/${ben.userId}`, {}],
    ["POST", `/docker/stop_container/${id}/${ada.userId}`, `/docker/stop_container/${absent}/${absent}`, {}],
    [
      "POST",
      `/docker/payments/clear/${paid.payment_data.razorpay_order_id}`,
      "/docker/payments/clear/order_absent",
      {},
    ],
  ];
  for (const [method, hers, nobodys, sent] of pairs) {
    const [foreign, missing] = [await asBen(method, hers, sent), await asBen(method, nobodys, sent)];
    expect(foreign, `${method} ${hers}`).toEqual(missing);
    expect(foreign.status, `${method} ${hers}`).toBe(404);
  }
  const stolen = { ...paid, container_request: { ...paid.container_request, user_id: ben.userId } };
  expect((await create(product.url, ben, stolen)).status).toBe(404);
  expect((await must(product.url, "GET", `/environments/${id}`, { token: ada.idToken })).environment.status).toBe(
    "active",
  );

  const address = `http://${name}.localhost:${product.port}/lab`;
  await page.goto(address);
  await page.waitForURL(/\/login/);
  await page.getByLabel("Email").fill(ada.email);
  await page.getByLabel("Password", { exact: true }).fill(ada.password);
  await page
    .locator("form")
    .getByRole("button", { name: /log ?in/i })
    .click();
  // Nobody came from the app, so it asks before it signs the browser in (G301).
  await page.getByRole("button", { name: `Open ${name}` }).click();
  await page.waitForURL(`${address}**`);

  const other = await (await context.browser()?.newContext({ baseURL: product.url }))?.newPage();
  if (!other) throw new Error("no second browser context");
  await signIn(other, ben);
  const shown = async (url: string) => {
    await other.goto(url);
    await expect(other.getByRole("link", { name: "Go to dashboard" })).toBeVisible();
    return (await other.locator("main").innerText()).replaceAll(name, "NAME").replaceAll("no-such-name", "NAME");
  };
  expect(await shown(address)).toBe(await shown(`http://no-such-name.localhost:${product.port}/lab`));
  await other.context().close();
});
