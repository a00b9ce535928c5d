import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "../operator/testing/run-operator.ts";
import { dataFolder, start } from "../testing/server-process.ts";

test("server and commands read one settings file, and so meet the same installation", async () => {
  const folder = dataFolder();
  const ENV_FILE = join(folder, "berth.env");
  writeFileSync(ENV_FILE, "BRAND_NAME=Harbour\nDATA_DIR=./store\nPORT=1\nGPUS_PER_USR=2\n");
  const server = start({ ENV_FILE });
  const url = await server.url();
  expect(server.said.out).toContain(`Harbour is ready at ${url}`);
  expect(server.logged()).toContainEqual(
    expect.objectContaining({
      event: "setting.warning",
      msg: `${ENV_FILE}, line 4: GPUS_PER_USR is not a setting and does nothing: is GPUS_PER_USER meant?`,
    }),
  );
  const keys = await operator(["gateway-keys"], { ENV_FILE });
  expect(keys).toMatchObject({ code: 0, stdout: expect.stringContaining("key id embedded_") });

  writeFileSync(ENV_FILE, "PORT 4000\n");
  const wrong = `${ENV_FILE}, line 1: it is not NAME=value.\n`;
  expect(await operator(["gateway-keys"], { ENV_FILE })).toEqual({ code: 1, stdout: "", stderr: wrong });
  const second = start({ ENV_FILE });
  expect([await second.ended, second.said.err]).toEqual([1, wrong]);
});
