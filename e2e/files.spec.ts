import { once } from "node:events";
import { createReadStream } from "node:fs";
import { request } from "node:http";
import { createGunzip } from "node:zlib";
import { type Customer, create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";

/** Calls JupyterLab through the gateway with the environment's token (G40). */
async function lab(product: Product, subdomain: string, token: string, method: string, path: string, body?: object) {
  const headers = {
    host: `${subdomain}.localhost:${product.port}`,
    authorization: `token ${token}`,
    "content-type": "application/json",
  };
  const sent = request({ host: "127.0.0.1", port: product.port, method, path, headers });
  sent.end(body && JSON.stringify(body));
  const [response] = await once(sent, "response");
  response.resume();
  return response.statusCode as number;
}

async function rentWithFile(product: Product, customer: Customer, subdomain: string) {
  const { body } = await create(
    product.url,
    customer,
    await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 }),
  );
  expect(body.status).toBe("active");
  const content = { type: "file", format: "text", content: "42 is the answer" };
  const status = await lab(product, subdomain, body.jupyter_token, "PUT", "/api/contents/results.txt", content);
  expect(status).toBe(201);
  return body.environment_id as string;
}

/** The uncompressed bytes of a tar.gz, which contain names and texts verbatim. */
async function unzipped(path: string): Promise<string> {
  let text = "";
  for await (const chunk of createReadStream(path).pipe(createGunzip())) text += chunk.toString("latin1");
  return text;
}

test("files can be downloaded during and after a rental, show the days left, and can be deleted; then the name can be given free (G31, G76, G301)", async ({
  page,
  product,
  customer: ada,
}) => {
  test.setTimeout(150_000);
  const name = `kept-${Date.now().toString(36)}`;
  const id = await rentWithFile(product, ada, name);
  await page.goto("/environments");
  const save = async (begin: () => Promise<void>) => {
    const saving = page.waitForEvent("download");
    await begin();
    const download = await saving;
    expect(download.suggestedFilename()).toBe(`${name}.tar.gz`);
    expect(await download.failure()).toBeNull();
    return { text: await unzipped(await download.path()), url: download.url() };
  };
  await page.getByRole("button", { name: `More actions for ${name}` }).click();
  const running = await save(() => page.getByRole("menuitem", { name: "Download files" }).click());
  expect(running.text).toContain("results.txt");
  expect(running.text).toContain("42 is the answer");
  expect((await fetch(running.url.replace("localhost", "127.0.0.1"))).status).toBe(404);

  const post = (path: string, body: unknown) => must(product.url, "POST", path, { token: ada.idToken, body });
  const files = page.getByRole("region", { name: "Kept files" });
  await expect(files).toBeHidden();
  await post(`/docker/stop_container/${id}/${ada.userId}`, {});
  await expect(files.getByText(/^Kept: \d+m left, clock stopped$/)).toBeVisible();
  await expect(files.getByText(/[KM]B$/)).toBeVisible();
  await expect(files.getByRole("button", { name: /Delete/ })).toBeHidden();
  await post(`/environments/${id}/terminate`, { confirm: name });
  await expect(files.getByText(/^(29|30) days left/)).toBeVisible();
  await expectAccessible(page);
  const ended = await save(() => files.getByRole("button", { name: `Download the files of ${name}` }).click());
  expect(ended.text).toContain("42 is the answer");

  await files.getByRole("link", { name: `New environment of the name ${name}` }).click();
  await expect(page.getByRole("radio", { name: /^JupyterLab/ })).toBeEnabled();
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByLabel("Subdomain")).toHaveValue(name);
  await expect(page.getByText("Your files of this name come back").first()).toBeVisible();

  await page.goto("/environments");
  await files.getByRole("button", { name: `Delete now the files of ${name}` }).click();
  const dialog = page.getByRole("dialog");
  await expectAccessible(page);
  await expect(dialog.getByRole("button", { name: "Delete now" })).toBeDisabled();
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(page.getByText(`The files of ${name} are deleted`)).toBeVisible();
  await expect(files).toBeHidden();
  await until("the files to be gone", async () => {
    const { message } = await must(product.url, "GET", `/subdomains/${name}`, { token: ada.idToken });
    return message === "This name is yours from an earlier environment";
  });

  const ben = await signUp(product.url);
  const forBen = async () => (await must(product.url, "GET", `/subdomains/${name}`, { token: ben.idToken })).message;
  expect(await forBen()).toBe("This name is in use");
  await page.reload();
  const names = page.getByRole("region", { name: "Former names" });
  await names.getByRole("button", { name: `Give free the name ${name}` }).click();
  await expect(dialog).toContainText("Anybody can rent this name from then on");
  await expectAccessible(page);
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(page.getByText(`The name ${name} is free`)).toBeVisible();
  await expect(names).toBeHidden();
  expect(await forBen()).toBe("");
});
