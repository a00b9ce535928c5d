// npm run operator: the operator's commands, with the Node of npm start, which it installs on a fresh clone: a restore is
// the first thing there. Only node: modules here.
import { existsSync } from "node:fs";
import { install, isInstalling, node, run } from "./setup.mjs";

if (!existsSync(node) || isInstalling()) install();
run(node, ["server/src/operator/main.ts", ...process.argv.slice(2)]);
