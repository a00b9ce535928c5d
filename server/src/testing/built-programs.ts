import { fileURLToPath } from "node:url";

/** The server and the operator's commands as `npm start` and a release run them; testing/build-server.ts bundles them. */
export const builtServer = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
export const builtOperator = fileURLToPath(new URL("../../dist/operator.js", import.meta.url));
