import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { problemsOf, testKeys } from "./testing/problems-of.ts";

/** Complete settings for live keys. */
const live = {
  RAZORPAY_KEY_ID: "rzp_live_abc",
  RAZORPAY_KEY_SECRET: "s",
  RAZORPAY_WEBHOOK_SECRET: "w",
  DATABASE_URL: "postgres://h/d",
  APP_URL: "https://berth.dev",
  SMTP_URL: "smtps://relay.berth.dev",
  MAIL_FROM: "hello@berth.dev",
  CONTACT_EMAIL: "hello@berth.dev",
  UNSAFE_PUBLIC_PROCESS_DRIVER: "true",
};

test.each([
  ["test options of the fake driver", { FAKE_DRIVER: "fail=1" }, "FAKE_DRIVER is for tests"],
  ["a short give-up", { GIVE_UP_AFTER: "5" }, "GIVE_UP_AFTER is for tests"],
  ["the fake driver", { RUNTIME: "fake" }, "RUNTIME=fake delivers nothing"],
  ["the process driver", { UNSAFE_PUBLIC_PROCESS_DRIVER: "false" }, "not for customers of live keys"],
  ["another provider", { RAZORPAY_URL: "http://127.0.0.1:4000/v1" }, "RAZORPAY_URL is for tests"],
  ["the embedded database", { DATABASE_URL: undefined }, "live keys need DATABASE_URL"],
  ["no address", { APP_URL: undefined }, "live keys need APP_URL"],
  ["an address of this machine", { APP_URL: "https://localhost:3000" }, "live keys need APP_URL"],
  ["an address without TLS", { APP_URL: "http://berth.dev" }, "live keys need APP_URL"],
  ["no webhook secret", { RAZORPAY_WEBHOOK_SECRET: undefined }, "live keys need RAZORPAY_WEBHOOK_SECRET"],
  ["an empty list of webhook secrets", { RAZORPAY_WEBHOOK_SECRET: " , " }, "live keys need RAZORPAY_WEBHOOK_SECRET"],
  ["no mail server", { SMTP_URL: undefined }, "live keys need SMTP_URL"],
  ["the default contact address", { CONTACT_EMAIL: undefined }, "live keys need CONTACT_EMAIL"],
  ["half a pair", { RAZORPAY_KEY_SECRET: undefined }, "set both, or neither"],
])("live keys with %s are refused with one message", (_, change, message) => {
  expect(problemsOf({ ...live, ...change })).toEqual([expect.stringContaining(message)]);
});

test("C48 the embedded provider is refused with live keys, and in public unless it is set explicitly", () => {
  expect(problemsOf({ ...live, PAYMENTS: "embedded" })).toEqual([expect.stringContaining("exclude each other")]);
  const open = { APP_URL: "https://berth.dev" };
  expect(problemsOf(open)).toEqual([expect.stringContaining("PAYMENTS=embedded")]);
  expect(readConfig({ ...open, PAYMENTS: "embedded" }).payments).toEqual({ kind: "embedded" });
});

test("complete settings for live keys are valid, and test keys alone", () => {
  expect(readConfig({ ...live, RAZORPAY_WEBHOOK_SECRET: "new, old" }).payments).toEqual({
    kind: "razorpay",
    url: "https://api.razorpay.com/v1",
    mode: "live",
    keyId: "rzp_live_abc",
    keySecret: "s",
    webhookSecrets: ["new", "old"],
  });
  expect([live, testKeys, { ...testKeys, SLOTS: "3" }].map((each) => readConfig(each).slots)).toEqual([
    0,
    undefined,
    3,
  ]);
  expect(readConfig(testKeys).payments).toMatchObject({ kind: "razorpay", mode: "test", webhookSecrets: [] });
  expect(readConfig({ ...testKeys, APP_URL: "https://berth.dev" }).payments).toMatchObject({ mode: "test" });
});
