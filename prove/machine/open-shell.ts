import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** One bash: what a block of commands sets, the next one sees. */
export interface Shell {
  /** Returns the output. @throws with its last lines at the first command that fails; the shell has ended then */
  run(commands: string): Promise<string>;
  close(): void;
}

/** @param program and its arguments run the words `bash -e` somewhere */
export function openShell(program: string, args: readonly string[]): Shell {
  const child = spawn(program, [...args, "bash", "-e"]);
  const ended = once(child, "exit");
  child.stdin.on("error", () => {});
  let lines: string[] = [];
  let onEnd: (() => void) | undefined;
  const mark = "::end of the block";
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      if (line === mark) onEnd?.();
      else lines.push(line);
    });
  return {
    async run(commands) {
      lines = [];
      const { promise, resolve } = Promise.withResolvers<true>();
      onEnd = () => resolve(true);
      const coded = Buffer.from(commands).toString("base64");
      // Without input: a question would take the next block as its answer.
      child.stdin.write(`eval "$(echo ${coded} | base64 --decode)" < /dev/null\necho\necho '${mark}'\n`);
      const isDone = await Promise.race([promise, ended.then(() => false)]);
      if (!isDone) throw new Error(`a command failed:\n${commands}\n\n${lines.slice(-30).join("\n")}`);
      return lines.join("\n").trim();
    },
    close: () => void child.kill(),
  };
}
