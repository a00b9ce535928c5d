import { expect, test } from "vitest";
import { settingNames } from "./config.ts";
import { misspeltSettings } from "./misspelt-settings.ts";

test("a variable that resembles a setting is reported, and no other", () => {
  const source = {
    GPUS_PER_USR: "2",
    DATA_DIRS: "x",
    HOME: "/root",
    HOSTNAME: "h",
    PORTS: "1",
    DATABASE: "x",
    PATH: "/bin",
  };
  expect(misspeltSettings(source, settingNames)).toEqual([
    "GPUS_PER_USR is not a setting and does nothing: is GPUS_PER_USER meant?",
    "DATA_DIRS is not a setting and does nothing: is DATA_DIR meant?",
  ]);
});
