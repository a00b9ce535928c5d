import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished } from "vitest";
import type { ProxyCommand } from "./proxy-command.ts";

/** Runs a reverse proxy until the end of the test; resolves when it listens on `port`. */
export async function runProxy({ program, args, env }: ProxyCommand, port: number): Promise<void> {
  const child = spawn(program, args, { stdio: "ignore", env: { PATH: "/usr/sbin:/usr/bin:/bin", ...env } });
  onTestFinished(async () => {
    child.kill("SIGQUIT");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  await expect.poll(() => listens(port)).toBe(true);
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
