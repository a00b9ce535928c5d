// npm run bench: measures, with everything installed and built as npm start does it. Only node: modules here.
import { buildServer, buildWeb, installTools, node, run } from "./setup.mjs";

installTools();
buildWeb();
buildServer();
run(node, ["bench/run.ts", ...process.argv.slice(2)]);
