import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const live = { RAZORPAY_KEY_ID: "rzp_live_abc", RAZORPAY_KEY_SECRET: "s", DATABASE_URL: "postgres://h/d" };
const gst = { TAX_GSTIN: "27AAPFU0939F1ZV", TAX_LEGAL_NAME: "Pier LLP", TAX_ADDRESS: "1 Dock Road" };

test("the defaults need nothing", () => {
  const config = readConfig({});
  expect(config).toMatchObject({ port: 3000, host: "127.0.0.1", envHost: "localhost", runtime: "process" });
  expect(config.database.kind).toBe("embedded");
  expect(config.payments.kind).toBe("embedded");
});

test.each([
  ["half a pair of keys", { RAZORPAY_KEY_ID: "rzp_test_abc" }, "set both, or neither"],
  ["the other half", { RAZORPAY_KEY_SECRET: "s" }, "set both, or neither"],
  ["razorpay without keys", { PAYMENTS: "razorpay" }, "PAYMENTS=razorpay needs"],
  ["embedded beside keys", { ...live, PAYMENTS: "embedded" }, "exclude each other"],
  ["fake options with live keys", { ...live, FAKE_DRIVER: "fail=1" }, "FAKE_DRIVER"],
  ["a short give-up with live keys", { ...live, GIVE_UP_AFTER: "5" }, "GIVE_UP_AFTER"],
  ["the fake driver with live keys", { ...live, RUNTIME: "fake" }, "RUNTIME=fake"],
  ["live keys on the embedded database", { ...live, DATABASE_URL: undefined }, "need DATABASE_URL"],
  ["the process driver in public", { HOST: "0.0.0.0" }, "binds loopback only"],
  ["a public address without keys", { APP_URL: "https://berth.example" }, "no payment keys"],
  ["a mail server without a sender", { SMTP_URL: "smtp://relay.example" }, "SMTP_URL needs MAIL_FROM"],
  ["a mail server that is none", { SMTP_URL: "http://relay.example" }, "SMTP_URL"],
  ["a GSTIN that is mistyped", { ...gst, TAX_GSTIN: "27AAPFU0939F1ZW" }, "TAX_GSTIN"],
  ["a GSTIN without a name", { ...gst, TAX_LEGAL_NAME: undefined }, "set all three"],
  ["an address without a GSTIN", { TAX_ADDRESS: "1 Dock Road" }, "set all three"],
  ["a letter of undertaking without a GSTIN", { TAX_LUT: "AD270326000000X" }, "TAX_LUT"],
  ["an unknown role", { ROLES: "api,cook", DATABASE_URL: "postgres://h/d" }, "ROLES"],
  ["split roles on the embedded database", { ROLES: "api" }, "split roles need"],
  ["a port that is none", { PORT: "70000" }, "PORT"],
  ["a boolean that is none", { UNSAFE_PUBLIC_PROCESS_DRIVER: "yes" }, "UNSAFE_PUBLIC_PROCESS_DRIVER"],
])("refuses %s", (_, source, message) => {
  expect(() => readConfig(source)).toThrow(message);
});

test("every problem is in the one message, and no secret is", () => {
  const read = () => readConfig({ RAZORPAY_KEY_SECRET: "hush-hush", HOST: "0.0.0.0" });
  expect(read).toThrow(/set both.*\n.*binds loopback/s);
  expect(read).not.toThrow(/hush-hush/);
});
