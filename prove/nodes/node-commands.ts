import { execFileSync } from "node:child_process";

/** Shell commands that end a node of the cluster and bring it back. */
export interface NodeOptions {
  readonly node: string;
  readonly stop: string;
  readonly start: string;
}

export type NodeCommands = NonNullable<ReturnType<typeof nodeCommandsOf>>;

/** Undefined where no commands are given. */
export function nodeCommandsOf({ node, stop, start }: NodeOptions) {
  const shell = (command: string) => void execFileSync("/bin/sh", ["-c", command], { stdio: "ignore" });
  return stop && start ? { node, stop: () => shell(stop), start: () => shell(start) } : undefined;
}
