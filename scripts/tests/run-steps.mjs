import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../setup.mjs";

export const bin = (name) => join(root, "node_modules", ".bin", name);

/** Runs one step, whose output is seen as it comes. @returns whether it succeeded */
export async function runStep({ name, command, args, env = {} }) {
  console.log(`\n== ${name}`);
  const { status, seconds } = await run(command, args, { env, stdio: "inherit" });
  console.log(`== ${name}: ${status === 0 ? "ok" : "failed"} in ${seconds} s`);
  return status === 0;
}

/** Runs steps at the same time. @returns the names of those that failed */
export async function runSideBySide(steps) {
  const ended = await Promise.all(steps.map(async (step) => ({ ...step, ...(await runQuietly(step)) })));
  return ended.filter(({ status }) => status !== 0).map(({ name }) => name);
}

/** Runs a step whose output is printed when it ends, lest that of several gets mixed. */
export async function runQuietly({ name, command, args, env = {} }) {
  const { status, seconds, output } = await run(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  console.log(`\n== ${name}: ${status === 0 ? "ok" : "failed"} in ${seconds} s${output && `\n${output.trimEnd()}`}`);
  return { status, output };
}

async function run(command, args, { env, stdio }) {
  const began = Date.now();
  const child = spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...env } });
  let output = "";
  const keep = (text) => {
    output += text;
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", keep);
  const status = await new Promise((done) => {
    child.once("close", done);
    child.once("error", ({ message }) => {
      if (stdio === "inherit") console.error(message);
      keep(message);
      done(1);
    });
  });
  return { status, output, seconds: ((Date.now() - began) / 1000).toFixed(1) };
}
