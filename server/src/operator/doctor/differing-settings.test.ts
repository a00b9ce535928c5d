import { expect, test } from "vitest";
import { digestSettings } from "../../config/compared-settings.ts";
import { readConfig } from "../../config/config.ts";
import type { Process } from "../process-registry.ts";
import { differingSettings } from "./differing-settings.ts";

const mail = { SMTP_URL: "smtp://hidden:password@mail.example", MAIL_FROM: "hello@shop.example" };
const secret = Buffer.from("the secret of the installation");
let pid = 0;

function running(roles: readonly string[], env: Record<string, string>): Process {
  pid += 1;
  const { compared } = readConfig(env);
  const settings = { digests: digestSettings(compared, secret) } as unknown as Process["settings"];
  return { roles, settings, version: "1", migration: "1", hostName: `host-${pid}`, pid };
}

test("settings that must agree are named with the processes that differ, never with a value", () => {
  pid = 0;
  const found = differingSettings([
    running(["api"], {
      RETENTION_DAYS: "30",
      PORT: "1",
      METRICS_PORT: "2",
      METRICS_TOKEN: "of this process alone",
      ...mail,
    }),
    running(["worker"], { RETENTION_DAYS: "7", LOG_LEVEL: "debug", ...mail }),
    running(["worker"], { RETENTION_DAYS: "30" }),
  ]);
  expect(found).toEqual([
    "MAIL_FROM: api on host-1 (process 1), worker on host-2 (process 2) | worker on host-3 (process 3) (unset)",
    "RETENTION_DAYS: api on host-1 (process 1), worker on host-3 (process 3) | worker on host-2 (process 2)",
    "SMTP_URL: api on host-1 (process 1), worker on host-2 (process 2) | worker on host-3 (process 3) (unset)",
  ]);
  expect(JSON.stringify(running(["api"], { BRAND_NAME: "Hidden" }))).not.toContain("Hidden");
});

test("a gateway alone is compared in what it needs; processes that say nothing are left out", () => {
  pid = 0;
  const gateway = { ENV_HOST: "env.example", RETENTION_DAYS: "7" };
  const older = { ...running(["api"], { ENV_HOST: "other.example" }), settings: {} as Process["settings"] };
  expect(differingSettings([running(["api", "worker"], {}), running(["gateway"], gateway), older])).toEqual([
    "ENV_HOST: api, worker on host-2 (process 2) | gateway on host-3 (process 3)",
  ]);
});
