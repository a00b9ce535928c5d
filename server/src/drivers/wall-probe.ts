import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import type { ContainerCreateOptions } from "dockerode";
import { containerBody, label, scratch } from "./docker-body.ts";
import { type Engine, orDone } from "./docker-engine.ts";
import { networkName } from "./docker-network.ts";

export interface ProbeParts {
  readonly engine: Engine;
  readonly install: string;
  /** Any of our images: what is needed is a Python. */
  readonly image: string;
  /** The machine's own addresses, and one port of it that answers. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly signal: AbortSignal;
}

interface Target {
  readonly what: string;
  readonly host: string;
  readonly port: number;
}

/** A refusal is an answer too: it came from where nothing should come from. */
const client = `import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def answers(target):
    with socket.socket() as attempt:
        attempt.settimeout(1.5)
        try:
            attempt.connect((target["host"], target["port"]))
        except ConnectionRefusedError:
            pass
        except OSError:
            return False
    return True
targets = json.loads(sys.argv[1])
with ThreadPoolExecutor(len(targets)) as pool:
    print("open:", json.dumps([target for target, hole in zip(targets, pool.map(answers, targets)) if hole]))`;

const neighbour = `import socket, time
with socket.create_server(("", 8888)):
    time.sleep(30)`;

/**
 * Looks from inside a run at what no run may reach, with a second run beside it. Answers what is open, in words; empty is
 * well. Takes 2 s, and leaves nothing behind, nor does one that was cut short. Throws what the engine says when a run
 * cannot be started at all.
 */
export async function probeWall(parts: ProbeParts): Promise<readonly string[]> {
  await using ended = new AsyncDisposableStack();
  const beside = await create(parts, "neighbour", ["-c", neighbour], ended);
  await beside.start();
  const { Networks } = (await beside.inspect()).NetworkSettings;
  const { IPAddress = "", Gateway = "" } = Networks[networkName(parts.install)] ?? {};
  const targets: Target[] = [
    { what: "another environment", host: IPAddress, port: 8888 },
    ...[Gateway, ...parts.addresses].map((host) => ({ what: "this machine", host, port: parts.port })),
    { what: "the provider's metadata", host: "169.254.169.254", port: 80 },
  ];
  const from = await create(parts, "client", ["-c", client, JSON.stringify(targets)], ended);
  const output = await from.attach({ stream: true, stdout: true, stderr: true });
  const cut = Promise.withResolvers<string>();
  const stop = () => cut.resolve("");
  parts.signal.addEventListener("abort", stop);
  ended.defer(() => parts.signal.removeEventListener("abort", stop));
  await from.start();
  const said = await Promise.race([text(output), cut.promise]);
  if (parts.signal.aborted) return [];
  if (!said.startsWith("open:")) throw new Error(`The wall could not be looked at: ${said}`);
  const open: Target[] = JSON.parse(said.slice("open:".length));
  return open.map(({ what, host, port }) => `an environment reaches ${what} at ${host}:${port}`);
}

/** With the flags of a run; without what would make it count as one, or give it a home. Gone when it ends, or before. */
async function create(
  { engine, install, image }: ProbeParts,
  role: string,
  command: readonly string[],
  ended: AsyncDisposableStack,
) {
  const limits = { cpus: 1, memoryMb: 128, shmMb: 16, pids: 32, diskGb: 1 };
  const spec = { id: role, generation: 1, image, token: "", home: "", gpus: [], limits };
  const place = { ...scratch, install, image, home: "", network: networkName(install) };
  const { HostConfig, ...body } = containerBody(spec, place);
  const container = await engine.docker.createContainer({
    ...body,
    name: `probe-${role}-${randomUUID()}`,
    // A terminal's output comes as it is, not in frames.
    Tty: true,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: [...command],
    Labels: { [label.install]: install },
    HostConfig: { ...HostConfig, Mounts: [], AutoRemove: true },
  } as ContainerCreateOptions);
  ended.defer(async () => void (await orDone(container.remove({ force: true }), 409)));
  return container;
}
