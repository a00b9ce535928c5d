// npm run bench: measures, with everything installed and built as npm start does it. Only node: modules here.
import { buildWeb, install, node, run } from "./setup.mjs";

install();
buildWeb();
run(node, ["bench/run.ts", ...process.argv.slice(2)]);
