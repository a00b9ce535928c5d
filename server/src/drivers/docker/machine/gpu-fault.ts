import { text } from "node:stream/consumers";
import type { Container } from "dockerode";
import { DriverError, type Stats } from "../../driver.ts";
import { gpuDevices } from "../containers/container-body.ts";
import type { Engine } from "../engine/engine.ts";
import { gpusListed } from "./nvidia-smi.ts";

/** Longer than a verb may take: a run that uses all its cores leaves little for the look. */
const limitMs = 30_000;
/** Nothing of the owner's is found here, so nobody can play a machine that fails. */
const ownPath = "PATH=/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin";

/**
 * As `Driver.gpuFault`: `nvidia-smi -L` in the run, which must name every GPU it has. As root, though
 * without any right, because the owner could freeze a program of their own user. `outside` answers what these GPUs do as
 * the machine itself sees it.
 */
export async function gpuFault(
  { withTimeout, explain }: Engine,
  container: Container,
  ids: readonly string[],
  outside: (ids: readonly string[]) => Promise<Stats["gpus"]>,
  withinMs = limitMs,
): Promise<string | undefined> {
  const devices = gpuDevices(ids);
  if (devices.length === 0) return undefined;
  const look = {
    Cmd: ["nvidia-smi", "-L"],
    Env: [ownPath],
    User: "0:0",
    Tty: true,
    AttachStdout: true,
    AttachStderr: true,
  };
  const exec = await withTimeout((abortSignal) => container.exec({ ...look, abortSignal }));
  const late = AbortSignal.timeout(withinMs);
  const heard = exec.start({ Tty: true, hijack: false, stdin: false, abortSignal: late }).then(text);
  const said = await heard.catch((error) => {
    if (!late.aborted) throw explain(error);
    return "";
  });
  // An answer that is cut short ends like any other.
  const { ExitCode: code, Running: isAtWork } = await withTimeout((abortSignal) => exec.inspect({ abortSignal }));
  if (late.aborted) {
    const words = `nvidia-smi did not end within ${withinMs / 1000} s`;
    // The line may have fallen silent, or the run may leave the look no CPU: then the GPUs answer whoever asks from outside.
    const answering = isAtWork ? await withTimeout(() => outside(devices)).catch(() => []) : undefined;
    const isLate = !answering || devices.every((device) => answering.some(({ id }) => id === device));
    if (isLate) throw new DriverError("unavailable", `${words} inside, which says nothing about the GPUs`);
    return words;
  }
  if (code === 0) {
    const lost = devices.filter((id) => !gpusListed(said).includes(id));
    return lost.length > 0 ? `nvidia-smi no longer finds ${lost.join(", ")}` : undefined;
  }
  const words = said.trim().split(/\s*\n/).at(-1) ?? "";
  if (code !== null && saysNothing.includes(code))
    throw new DriverError("unavailable", `nvidia-smi could not be run inside: ${words}`);
  return `nvidia-smi ended with ${code}: ${words.slice(0, 200)}`;
}

/** Not found, not to be started, killed for lack of memory: of the GPUs that says nothing. */
const saysNothing = [126, 127, 137];
