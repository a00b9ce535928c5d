import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createWebSocketStream, WebSocket } from "ws";
import { DriverError } from "../../driver.ts";
import { refusalOf } from "./cluster-errors.ts";
import type { Cluster } from "./open-cluster.ts";

/** A program in a pod ended with a code that its caller did not expect. */
export class ExecFailure extends Error {
  readonly code: number;
  /** The end of what it wrote, on both outputs. */
  readonly output: string;

  constructor(code: number, output: string) {
    super(`it ended with ${code}: ${output.trim().slice(-300)}`);
    this.name = "ExecFailure";
    this.code = code;
    this.output = output;
  }
}

interface Program {
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  /** Its stdin. The program has to know where it ends: the protocol cannot close one side. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Exit codes that are success. */
  readonly codes?: readonly number[];
  readonly signal: AbortSignal;
}

/** The first byte of each message, by the protocol v4.channel.k8s.io. */
const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3 } as const;

/**
 * Runs a program in a container and returns its stdout as it arrives; a slow reader slows the program down. Throws
 * `ExecFailure`, `ClusterRefusal`, the signal's reason, and `unavailable` when the connection broke.
 */
export async function* execInPod(cluster: Cluster, program: Program): AsyncGenerator<Buffer, void> {
  const { codes = [0], input, signal } = program;
  signal.throwIfAborted();
  const socket = await connect(cluster, program, signal);
  const messages = createWebSocketStream(socket, { readableObjectMode: true });
  const end = () => messages.destroy(signal.reason as Error);
  signal.addEventListener("abort", end);
  // A failure of the input ends the output with it; where the program ends before its input, the program says why.
  const cut = (error: Error) => void messages.destroy(error);
  if (input) pipeline(asMessages(input), messages, { end: false }).catch(cut);
  let output = "";
  try {
    for await (const message of messages as AsyncIterable<Buffer>) {
      const bytes = message.subarray(1);
      if (message[0] === channel.status) return judge(exitCode(bytes), codes, output);
      if (bytes.length > 0) output = `${output}${bytes.subarray(-2_000)}`.slice(-2_000);
      if (message[0] === channel.stdout && bytes.length > 0) yield bytes;
    }
  } finally {
    signal.removeEventListener("abort", end);
    messages.destroy();
    socket.terminate();
  }
  signal.throwIfAborted();
  throw new DriverError("unavailable", `The connection to a program in the pod ${program.pod} was cut`);
}

async function* asMessages(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = Buffer.of(channel.stdin);
  for await (const bytes of input) yield Buffer.concat([first, bytes]);
}

/** More than a thousand processes say; an owner's program may go on for ever. */
const mostBytes = 2 ** 20;

/** All of a program's stdout as text. Throws `unavailable` when it says more than a megabyte. */
export async function execOutput(cluster: Cluster, program: Program): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of execInPod(cluster, program)) {
    length += bytes.length;
    if (length > mostBytes)
      throw new DriverError("unavailable", `A program in the pod ${program.pod} says more than a megabyte`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

async function connect(
  { namespace, socketTo }: Cluster,
  { pod, container, command, input }: Program,
  signal: AbortSignal,
): Promise<WebSocket> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec`;
  const { url, options } = await socketTo(path, {
    container,
    command,
    stdin: input !== undefined,
    stdout: true,
    stderr: true,
  });
  const socket = new WebSocket(url, ["v4.channel.k8s.io"], options as WebSocket.ClientOptions);
  const { promise: refused, reject } = Promise.withResolvers<never>();
  socket.on("unexpected-response", (_request, reply: IncomingMessage) => {
    text(reply).then((body) => reject(refusalOf(reply.statusCode ?? 0, body)), reject);
  });
  // Without a listener, an error after the connection was given up would end this process.
  socket.on("error", reject);
  refused.catch(() => {});
  try {
    await Promise.race([once(socket, "open", { signal }), refused]);
  } catch (error) {
    socket.terminate();
    throw signal.aborted ? signal.reason : error;
  }
  return socket;
}

interface ExecStatus {
  readonly status?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** Throws `unavailable` when the program did not run to its end. */
function exitCode(bytes: Buffer): number {
  const { status, message, details }: ExecStatus = JSON.parse(String(bytes));
  if (status === "Success") return 0;
  const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  if (code === undefined) throw new DriverError("unavailable", `A program could not be run in the pod: ${message}`);
  return Number(code);
}

function judge(code: number, codes: readonly number[], output: string): void {
  if (!codes.includes(code)) throw new ExecFailure(code, output);
}
