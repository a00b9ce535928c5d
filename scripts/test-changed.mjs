// npm run test:changed [-- COMMIT]: the checks and the tests of what changed, after the same set-up as npm start. Only node: modules here.
import { install, node, run } from "./setup.mjs";

install();
run(node, ["scripts/tests/test-changed.mjs", ...process.argv.slice(2)]);
