import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { faultyProvider, keys } from "../../system-tests/testing/faulty-provider.ts";
import { emptyDatabase } from "../../testing/server-process.ts";
import { askProvider } from "./ask-provider.ts";

test("the provider is asked without any order: no answer, errors of its own and unknown keys are told apart", async () => {
  const provider = await faultyProvider((await emptyDatabase()).connection, onTestFinished);
  const ask = (change: Record<string, string> = {}) =>
    askProvider(
      readConfig({
        RAZORPAY_KEY_ID: keys.keyId,
        RAZORPAY_KEY_SECRET: keys.keySecret,
        RAZORPAY_URL: provider.url,
        ...change,
      }),
    );
  expect(await ask()).toEqual([]);
  expect(await ask({ RAZORPAY_KEY_SECRET: "another" })).toEqual([
    "The provider does not know the keys of the settings",
  ]);
  // Nothing listens on this port of loopback.
  expect(await ask({ RAZORPAY_URL: "http://127.0.0.1:1/v1" })).toEqual(["The payment provider does not answer"]);
  provider.fault = "errors";
  expect(await ask()).toEqual(["The payment provider has errors: broken"]);
  provider.fault = "none";
  expect(await ask()).toEqual([]);
  expect(await askProvider(readConfig({})), "the embedded one is part of the server").toEqual([]);
});
