// npm run check: installs what the lockfile asks for, then runs every check side by side.
import { installTools } from "./setup.mjs";
import { checks } from "./tests/checks.mjs";
import { runSideBySide } from "./tests/run-steps.mjs";

installTools();
process.exit((await runSideBySide(checks)).length > 0 ? 1 : 0);
