// npm run test:changed [-- COMMIT]: the checks and the tests of what changed, after the same set-up as npm start. Only node: modules here.
import { installTools, node, run } from "./setup.mjs";

installTools();
run(node, ["scripts/tests/test-changed.mjs", ...process.argv.slice(2)]);
