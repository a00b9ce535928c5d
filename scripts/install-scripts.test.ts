import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { trusted } from "./setup.mjs";

/** They compile or print something that nothing here needs. */
const refused = ["cpu-features", "protobufjs", "ssh2"];

test("each package with an install script is trusted or refused by name", () => {
  const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
  const packages = Object.entries<{ hasInstallScript?: boolean }>(lock.packages);
  const names = packages.flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.split("node_modules/").at(-1) ?? path] : [],
  );
  const isTrusted = (name: string) =>
    trusted.some((each) => name === each || (name.startsWith("@") && name.startsWith(each)));
  expect(names.filter((name) => !isTrusted(name)).sort()).toEqual(refused);
});
