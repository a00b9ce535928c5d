import { expect, test } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { operator } from "./testing/run-operator.ts";

test("health says whether the server of this machine is ready, by its own port and by METRICS_PORT", async () => {
  const [PORT, METRICS_PORT] = [String(await freePort()), String(await freePort())];
  const APP_URL = "https://app.berth.example";
  const health = (env: Record<string, string>) => operator(["health"], { PORT, PAYMENTS: "embedded", ...env });
  expect(await health({})).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: `No server answers at port ${PORT} of this machine: ECONNREFUSED.\n`,
  });
  const { url: DATABASE_URL } = await emptyDatabase();
  const common = { PORT, APP_URL, PAYMENTS: "embedded", DATABASE_URL, DATA_DIR: dataFolder() };
  await start({ ...common, METRICS_PORT, TRUST_PROXY: "127.0.0.1" }).url();
  const ready = { code: 0, stdout: "ready\n", stderr: "" };
  expect(await health({ APP_URL })).toEqual(ready);
  expect(await health({ METRICS_PORT, APP_URL: "https://other.example" })).toEqual(ready);
  expect(await health({ APP_URL: "https://other.example" }), "another name is not the app").toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringMatching(/^The server at port \d+ is not ready: .*\n$/),
  });
});
