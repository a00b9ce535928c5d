// npm run images: builds the images of environments, after the same set-up as npm start. Only node: modules here.
import { install, node, run } from "./setup.mjs";

install();
run(node, ["images/run.ts", ...process.argv.slice(2)]);
