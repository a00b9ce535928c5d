// Fails when the lockfile lacks optional per-platform packages that a dependency names: `npm ci` would refuse it.
import { readFileSync } from "node:fs";

const { packages } = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));
let holes = 0;
for (const [path, { optionalDependencies = {}, resolved = "" }] of Object.entries(packages)) {
  const absent = Object.keys(optionalDependencies).filter(
    (name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
  );
  if (absent.length > 0) {
    holes++;
    console.error(`package-lock.json: ${path} lacks ${absent.length} optional packages, such as ${absent[0]}`);
  }
  if (resolved.startsWith("http")) {
    holes++;
    console.error(`package-lock.json: ${path} names a registry host`);
  }
}
process.exit(holes > 0 ? 1 : 0);
