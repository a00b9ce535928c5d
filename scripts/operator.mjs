// npm run operator: the operator's commands, with the Node that npm start has installed. Only node: modules here.
import { existsSync } from "node:fs";
import { node, run } from "./setup.mjs";

if (!existsSync(node)) {
  console.error("Nothing is installed here yet: start the server once (npm start), which sets everything up.");
  process.exit(1);
}
run(node, ["server/src/operator/main.ts", ...process.argv.slice(2)]);
