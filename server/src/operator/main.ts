import { runTyped } from "./run-typed.ts";

const code = await runTyped(process.argv.slice(2), process.env);
// At once: a check of doctor that timed out may still hold a connection.
if (code !== 0) process.exit(code);
