// npm run operator: the operator's commands, with the Node of npm start, which it installs on a fresh clone: a restore is
// the first thing there. Only node: modules here.
import { existsSync } from "node:fs";
import { buildServer, install, isInstalling, node, run } from "./setup.mjs";

if (!existsSync(node) || isInstalling()) install();
buildServer();
run(node, ["server/dist/operator.js", ...process.argv.slice(2)]);
