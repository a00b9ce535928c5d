import { newPublicKey } from "../server/src/account/ssh-keys/testing/public-keys.ts";
import { must } from "../testing/customer.ts";
import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("SSH keys by keyboard: what a key is, a private one stays on the page, one is added and removed (G410, G411, G412)", async ({
  page,
  customer: ada,
  product,
}) => {
  await page.goto("/settings?tab=ssh-keys");
  const keys = page.getByRole("region", { name: "Your keys" });
  await expect(keys.getByText("ssh-keygen -t ed25519", { exact: true })).toBeVisible();
  await checkScreen(page, "ssh-keys-none");
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.postData() ?? ""));
  const field = page.getByLabel("Public key");
  const add = async (text: string) => {
    await field.fill(text);
    await page.getByRole("button", { name: "Add key" }).focus();
    await page.keyboard.press("Enter");
  };
  await add("");
  await expect(page.getByText("Paste the line of the .pub file", { exact: true })).toBeVisible();
  await add("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA");
  await expect(page.getByText(/^This is a private key: never show it to anybody/)).toBeVisible();
  await add("ssh-dss AAAAB3NzaC1kc3M= ada@laptop");
  await expect(page.getByText(/^DSA keys are too weak/)).toBeVisible();
  await checkScreen(page, "ssh-keys-refused");
  expect(sent.join()).not.toContain("PRIVATE");
  expect(sent.join()).toContain("ssh-dss");
  await add(newPublicKey("ada@laptop"));
  const row = keys.getByRole("listitem");
  await expect(row).toHaveCount(1);
  await expect(row).toContainText(/ada@laptop.*ssh-ed25519 SHA256:.*never used/);
  await expect(field).toHaveValue("");
  await must(product.url, "POST", `/settings/${ada.userId}/ssh-keys`, {
    body: { name: "A workstation with a long name, in the laboratory at home", public_key: newPublicKey() },
    token: ada.idToken,
  });
  await page.reload();
  await expect(row).toHaveCount(2);
  await checkScreen(page, "ssh-keys");
  const remove = page.getByRole("button", { name: "Remove ada@laptop" });
  await remove.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Keep it" })).toBeFocused();
  await checkScreen(page, "ssh-key-removal", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await remove.focus();
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Remove", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect(row).toHaveCount(1);
  await expect(row).not.toContainText("ada@laptop");
});
