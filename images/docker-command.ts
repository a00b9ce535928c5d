import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL(".", import.meta.url));
/** Images are built on the machine that runs them. */
export const socketPath = "/var/run/docker.sock";
const host = `unix://${socketPath}`;
/** Exit code of `env` when there is no such command. */
const notFound = 127;

/** An expected error, printed without a stack. */
export class ImageError extends Error {}

interface DockerOptions {
  readonly onLine?: (line: string) => void;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the docker command and returns its stdout. Throws an ImageError with its last lines when it fails. */
export async function docker(args: readonly string[], options: DockerOptions = {}): Promise<string> {
  const variables = Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`);
  const child = spawn("/usr/bin/env", [...variables, "docker", "--host", host, ...args]);
  const printed: string[] = [];
  const last: string[] = [];
  const read = async (stream: NodeJS.ReadableStream, line: (text: string) => void) => {
    for await (const text of createInterface({ input: stream })) {
      options.onLine?.(text);
      line(text);
      last.push(text);
      if (last.length > 8) last.shift();
    }
  };
  child.stdin.on("error", () => {}).end(options.input ?? "");
  const [[code]] = await Promise.all([
    once(child, "close"),
    read(child.stdout, (text) => printed.push(text)),
    read(child.stderr, () => {}),
  ]);
  if (code === notFound)
    throw new ImageError("There is no docker command on this machine: install Docker Engine 20.10 or newer.");
  if (code !== 0) throw new ImageError(last.join("\n"));
  return printed.join("\n");
}

/** Version of the engine. Throws an ImageError when it cannot be used. */
export async function engineVersion(): Promise<string> {
  try {
    return await docker(["version", "--format", "{{.Server.Version}}"]);
  } catch (error) {
    const message = error instanceof ImageError ? error.message : String(error);
    throw new ImageError(message.startsWith("There is no") ? message : `The Docker Engine cannot be used. ${message}`);
  }
}

/** Bytes of the image's layers in a registry. Reads and compresses all of them: a minute for 5 GB. */
export async function compressedBytes(image: string): Promise<number> {
  const child = spawn("/bin/sh", ["-c", 'docker --host "$2" save "$1" | gzip -1 | wc -c', "size", image, host]);
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8")) printed += text;
  return Number(printed);
}
