import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL(".", import.meta.url));
/** Images are built where they run. */
export const socketPath = "/var/run/docker.sock";
const host = `unix://${socketPath}`;
/** What `env` ends with when there is no such command. */
const notFound = 127;

/** For people: said as it is, without a trace. */
export class ImageError extends Error {}

interface DockerOptions {
  readonly heard?: (line: string) => void;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the docker command and answers what it printed. Throws an ImageError with its last lines when it fails. */
export async function docker(args: readonly string[], options: DockerOptions = {}): Promise<string> {
  const variables = Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`);
  const child = spawn("/usr/bin/env", [...variables, "docker", "--host", host, ...args]);
  const printed: string[] = [];
  const last: string[] = [];
  const read = async (stream: NodeJS.ReadableStream, line: (text: string) => void) => {
    for await (const text of createInterface({ input: stream })) {
      options.heard?.(text);
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

/** Its version. Throws an ImageError that says why it cannot be used. */
export async function engineVersion(): Promise<string> {
  try {
    return await docker(["version", "--format", "{{.Server.Version}}"]);
  } catch (error) {
    const words = error instanceof ImageError ? error.message : String(error);
    throw new ImageError(words.startsWith("There is no") ? words : `The Docker Engine cannot be used. ${words}`);
  }
}

/** Bytes of the image's layers as a registry would hold them. Reads and packs all of it: a minute for 5 GB. */
export async function compressedBytes(image: string): Promise<number> {
  const child = spawn("/bin/sh", ["-c", 'docker --host "$2" save "$1" | gzip -1 | wc -c', "size", image, host]);
  let printed = "";
  for await (const text of child.stdout.setEncoding("utf8")) printed += text;
  return Number(printed);
}
