import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError, readConfig } from "./config.ts";
import { readSettingsFile } from "./settings-file.ts";

/** A folder with a `.env`, as beside package.json. */
function folderWith(text?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (text !== undefined) writeFileSync(join(folder, ".env"), text);
  return folder;
}

test("settings come from .env, and the process environment wins", () => {
  const folder = folderWith(`# a comment
PORT=4000
export BRAND_NAME = "Harbour # 1" # the sign on the door

SUPPORT_NAME='it is "Ines"'
HOST=127.0.0.2 # loopback
LOG_LEVEL=
`);
  const { variables, warnings } = readSettingsFile({ PORT: "5000", PATH: "/bin" }, folder);
  expect(warnings).toEqual([]);
  expect(variables["PATH"]).toBe("/bin");
  expect(readConfig(variables)).toMatchObject({
    port: 5000,
    host: "127.0.0.2",
    brand: { name: "Harbour # 1", supportName: 'it is "Ines"' },
    logLevel: "info",
  });
  expect(readConfig(readSettingsFile({ PORT: "" }, folder).variables).port, "an empty one wins too").toBe(3000);
  expect(readConfig(readSettingsFile({ ENV_FILE: "" }, folder).variables).port, "no file at all").toBe(3000);
});

test("ENV_FILE names another file, and paths in it are relative to it", () => {
  const [home, other] = [folderWith("PORT=4000"), folderWith()];
  const file = join(other, "berth.env");
  writeFileSync(file, "\uFEFFDATA_DIR=./store\r\nRUNTIMES_DIR=/srv/runtimes\r\n");
  const { variables } = readSettingsFile({ ENV_FILE: file }, home);
  expect(readConfig(variables)).toMatchObject({
    port: 3000,
    dataDir: join(other, "store"),
    runtimesDir: "/srv/runtimes",
  });
  expect(readSettingsFile({ ENV_FILE: file, DATA_DIR: "here" }, home).variables["DATA_DIR"]).toBe("here");
  writeFileSync(file, "PORT=4001");
  expect(readSettingsFile({ ENV_FILE: file }, home).variables["DATA_DIR"]).toBe(join(other, "data"));
  expect(readSettingsFile({}, folderWith()).variables["DATA_DIR"]).toMatch(/berth-settings-\w+\/data$/);
});

test("a file that is named and not there is refused, one that is not named may be absent", () => {
  const file = join(folderWith(), "none.env");
  expect(() => readSettingsFile({ ENV_FILE: file })).toThrow(
    new ConfigError(`The settings of ${file} cannot be read: ENOENT.`),
  );
  const folder = folderWith();
  mkdirSync(join(folder, ".env"));
  expect(() => readSettingsFile({}, folder)).toThrow(`The settings of ${folder}/.env cannot be read: EISDIR.`);
});

test("every wrong line is named in one sentence, without its value", () => {
  const folder = folderWith(`PORT=4000
PORT 4000
IDENTITY_SECRET=hidden#hidden
BRAND_NAME="hidden
SUPPORT_NAME='hidden' hidden
PORT=4001
9LIVES=hidden`);
  const at = `${folder}/.env`;
  expect(() => readSettingsFile({}, folder)).toThrow(
    new ConfigError(
      [
        `${at}, line 2: it is not NAME=value.`,
        `${at}, line 3: IDENTITY_SECRET contains a #, which begins a comment: put the value in quotes.`,
        `${at}, line 4: the quotes of BRAND_NAME do not enclose its value.`,
        `${at}, line 5: the quotes of SUPPORT_NAME do not enclose its value.`,
        `${at}, line 6: PORT is on line 1 already.`,
        `${at}, line 7: it is not NAME=value.`,
      ].join("\n"),
    ),
  );
});

test("an unknown name is a warning with its line; what Compose and restic read is none", () => {
  const others = "COMPOSE_PROJECT_NAME=x\nAWS_ACCESS_KEY_ID=key\nRESTIC_PASSWORD=word";
  const folder = folderWith(`PORT=4000\nGPUS_PER_USR=2\nWHATEVER=1\n${others}`);
  expect(readConfig(readSettingsFile({}, folder).variables).restic).toEqual({
    AWS_ACCESS_KEY_ID: "key",
    RESTIC_PASSWORD: "word",
  });
  expect(readSettingsFile({ DATA_DIRS: "x" }, folder).warnings).toEqual([
    "DATA_DIRS is not a setting and does nothing: is DATA_DIR meant?",
    `${folder}/.env, line 2: GPUS_PER_USR is not a setting and does nothing: is GPUS_PER_USER meant?`,
    `${folder}/.env, line 3: WHATEVER is not a setting and does nothing`,
  ]);
});

test("a secret may be in a file of its own, named by NAME_FILE", () => {
  const folder = folderWith("DATABASE_URL_FILE=./url\nIDENTITY_SECRET=from the settings file, 32 or longer");
  writeFileSync(join(folder, "url"), "postgres://berth:hidden@db/berth\n");
  writeFileSync(join(folder, "secret"), "from a file of its own, 32 characters");
  const read = (environment: Record<string, string> = {}) =>
    readConfig(readSettingsFile(environment, folder).variables);
  expect(read().database).toEqual({ kind: "external", url: "postgres://berth:hidden@db/berth" });
  expect(readSettingsFile({}, folder).warnings).toEqual([]);
  expect(read({ IDENTITY_SECRET_FILE: join(folder, "secret") }).secret).toBe("from a file of its own, 32 characters");
  expect(read({ DATABASE_URL: "postgres://other/berth" }).database).toMatchObject({ url: "postgres://other/berth" });
  expect(() => read({ PORT: "1", PORT_FILE: "x" })).toThrow("PORT and PORT_FILE: set one of them.");
  expect(() => read({ SMTP_URL_FILE: "/nowhere/url" })).toThrow(
    "The file of SMTP_URL_FILE cannot be read: /nowhere/url: ENOENT.",
  );
});
