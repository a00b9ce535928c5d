import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtOperator } from "../../server/src/testing/built-programs.ts";

/** Folders of a machine that commands write to: each lies in the shell's own folder. */
const machineFolders = ["etc", "opt", "srv", "usr", "var"];

export interface Outcome {
  readonly code: number;
  readonly output: string;
  /** The environment of the server that `npm start` would have been, if the command is one. */
  readonly started?: Readonly<Record<string, string>>;
}

export type Shell = (command: string, env?: Readonly<Record<string, string>>) => Promise<Outcome>;

/**
 * A shell whose `npm run operator --` and `berth` are this checkout's program, whose `npm start` starts nothing, whose curl
 * fails where the server refuses, and whose /etc, /opt, /srv, /usr and /var lie in `folder`. Its
 * directory and what is exported outlive a command.
 */
export function openShell(folder: string, env: Readonly<Record<string, string>>): Shell {
  const home = join(folder, "home");
  for (const name of ["bin", "home", ...machineFolders]) mkdirSync(join(folder, name), { recursive: true });
  const started = join(folder, "started");
  program(folder, "berth", `exec '${process.execPath}' '${builtOperator}' "$@"`);
  program(
    folder,
    "npm",
    `[ "$1" = start ] && exec env -0 > '${started}'\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec berth "$@"`,
  );
  writeFileSync(join(home, ".curlrc"), "fail-with-body\n");
  const directory = join(folder, "directory");
  writeFileSync(directory, home);
  const profile = join(folder, "profile");
  writeFileSync(profile, "");
  return async (command, more = {}) => {
    rmSync(started, { force: true });
    const typed = moved(command, folder);
    const script = `. '${profile}'\n${typed}\npwd > '${directory}'`;
    if (typed.startsWith("export ")) appendFileSync(profile, `${typed}\n`);
    const PATH = `${join(folder, "bin")}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`;
    const given = { ENV_FILE: "", ...env, ...more, PATH, HOME: home, TMPDIR: folder };
    const options = { cwd: readFileSync(directory, "utf8").trim(), env: given, timeout: 120_000 };
    const done = await new Promise<Outcome>((resolve) =>
      execFile("bash", ["-eo", "pipefail", "-c", script], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
      ),
    );
    return existsSync(started) ? { ...done, started: variablesIn(readFileSync(started, "utf8")) } : done;
  };
}

function program(folder: string, name: string, script: string): void {
  const path = join(folder, "bin", name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** Absolute paths, and `~`, which is HOME already. */
function moved(command: string, folder: string): string {
  return command.replaceAll(new RegExp(`(?<=^|[\\s='"])/(?=(${machineFolders.join("|")})\\b)`, "g"), `${folder}/`);
}

function variablesIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split("\0").flatMap((line) => {
      const at = line.indexOf("=");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}
