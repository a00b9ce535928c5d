import { expect, test } from "vitest";
import { ConfigError } from "../../config/config.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { setup } from "../testing/setup.ts";
import { checkKeys } from "./check-keys.ts";

test("keys unknown to the provider prevent the start; valid keys, an error and a timeout do not", async () => {
  const { provider } = await setup();
  const { log, errors: heard } = recordLog();
  await checkKeys(provider, log);
  expect(heard).toEqual([]);

  const outsider = await setup({ keys: { keySecret: "wrong" } });
  const refused = checkKeys(outsider.provider, log);
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow("does not know these keys");

  const gone = await setup({ keys: { baseUrl: "http://127.0.0.1:9" } });
  await checkKeys(gone.provider, log);
  expect(heard).toMatchObject([{ code: "NETWORK" }]);

  const silent = { ...provider, paymentsBetween: () => new Promise<never>(() => {}) };
  await checkKeys(silent, log);
  expect(heard).toHaveLength(1);
});
