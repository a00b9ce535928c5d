import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";

async function setup() {
  const product = await testApp();
  const ada = await product.signUp("Ada Park");
  const path = `/settings/${ada.id}`;
  return {
    ...product,
    ada,
    read: () => product.must("GET", path, ada.token),
    flag: (flags: object) => product.call("PUT", `${path}/flags`, ada.token, flags),
    path,
  };
}

test("profile and flags of a new user", async () => {
  const { ada, read } = await setup();
  expect(await read()).toEqual({
    status: "success",
    profile: { name: "Ada Park", email: ada.email, phone: "" },
    flags: {
      emailNotifications: true,
      billingAlerts: true,
      securityAlerts: true,
      marketingEmails: false,
      twoFactorAuth: false,
    },
  });
});

test("a flag is stored separately, so that another tab's change stays", async () => {
  const { read, flag } = await setup();
  expect((await flag({ billingAlerts: false })).json()).toMatchObject({ success: true });
  await flag({ emailNotifications: false });
  await flag({});
  expect((await read()).flags).toMatchObject({ billingAlerts: false, emailNotifications: false, securityAlerts: true });
});

test("the second factor is not switched on by a flag, and a flag is yes or no", async () => {
  const { read, flag } = await setup();
  await flag({ twoFactorAuth: true });
  expect((await read()).flags.twoFactorAuth).toBe(false);
  expect((await flag({ billingAlerts: "no" })).statusCode).toBe(400);
});

test("changes by either route are read here", async () => {
  const { read, must, ada, path } = await setup();
  await must("PUT", `${path}/profile`, ada.token, { name: " Ada P ", phone: "+1 555" });
  expect((await read()).profile).toMatchObject({ name: "Ada P", phone: "+1 555" });
  await must("PUT", `/profile/${ada.id}/update`, ada.token, { name: "Ada" });
  expect((await read()).profile).toMatchObject({ name: "Ada", phone: "+1 555" });
});
