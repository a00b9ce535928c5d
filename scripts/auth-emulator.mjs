// Firebase's Auth emulator, for trying IDENTITY=firebase out and for its tests: `npm run auth-emulator -- install` puts it into
// the cache (220 MB, no dependency of the product), `npm run auth-emulator [-- PORT]` runs it. It needs no Java.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root, run as runProgram } from "./setup.mjs";

const version = "15.34.2";
const folder = join(root, "node_modules/.cache/berth/auth-emulator");
const [argument = "9099"] = process.argv.slice(2);

if (argument === "install") install();
else if (/^\d{1,5}$/.test(argument)) await run(Number(argument));
else stop(`${argument}: either install, or a port`);

function install() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: { "firebase-tools": version } }),
  );
  const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  runProgram("npm", ["install", ...flags], { cwd: folder, shell: process.platform === "win32" });
}

/** The emulator's own server without the rest of its command line, which takes several times as long to start. */
async function run(port) {
  const app = await serverOf().createApp("demo-berth");
  const server = app.listen(port, "127.0.0.1", () => console.log(`127.0.0.1:${server.address().port}`));
}

function serverOf() {
  try {
    return createRequire(join(folder, "package.json"))("firebase-tools/lib/emulator/auth/server.js");
  } catch {
    return stop("The emulator is not installed: npm run auth-emulator -- install");
  }
}

function stop(text) {
  console.error(text);
  process.exit(1);
}
