// npm run dev: the server, restarted when its sources change, and Vite as a proxy in front of it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { install, node, root } from "./setup.mjs";

install();
const children = [
  spawn(node, ["--watch-path=server/src", "--watch-path=contract/src", "server/src/main.ts"], {
    cwd: root,
    stdio: "inherit",
  }),
  spawn(node, [join(root, "node_modules/vite/bin/vite.js")], { cwd: join(root, "web"), stdio: "inherit" }),
];
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
  });
