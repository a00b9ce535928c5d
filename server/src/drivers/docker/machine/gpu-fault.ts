import { text } from "node:stream/consumers";
import type { Container } from "dockerode";
import { DriverError, type Stats } from "../../driver.ts";
import { gpuDevices } from "../containers/container-body.ts";
import type { Engine } from "../engine/engine.ts";
import { gpusListed } from "./nvidia-smi.ts";

/** Longer than other operations: a run that uses all its cores leaves little CPU for the check. */
const limitMs = 30_000;
/** No folder that the owner can write, so that nobody can fake a broken GPU. */
const safePath = "PATH=/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin";

type UsageOf = (ids: readonly string[]) => Promise<Stats["gpus"]>;

/**
 * As `Driver.gpuFault`: `nvidia-smi -L` inside the run must list every GPU it has. Runs as root, without capabilities,
 * because the owner could freeze a program of their own user. `usageOf` asks the machine itself about these GPUs.
 */
export async function gpuFault(
  engine: Engine,
  container: Container,
  ids: readonly string[],
  usageOf: UsageOf,
  withinMs = limitMs,
): Promise<string | undefined> {
  const devices = gpuDevices(ids);
  if (devices.length === 0) return undefined;
  const { output, exitCode, isRunning, timedOut } = await listInside(engine, container, withinMs);
  if (timedOut) return await faultAfterTimeout(engine, devices, usageOf, { isRunning, withinMs });
  if (exitCode === 0) {
    const listed = gpusListed(output);
    const missing = devices.filter((id) => !listed.includes(id));
    return missing.length > 0 ? `nvidia-smi no longer finds ${missing.join(", ")}` : undefined;
  }
  const lastLine = output.trim().split("\n").at(-1) ?? "";
  if (exitCode !== null && inconclusiveCodes.includes(exitCode))
    throw new DriverError("unavailable", `nvidia-smi could not be run inside: ${lastLine}`);
  return `nvidia-smi ended with ${exitCode}: ${lastLine.slice(0, 200)}`;
}

/** Not found, not executable, killed for lack of memory: inconclusive about the GPUs. */
const inconclusiveCodes = [126, 127, 137];

async function listInside({ withTimeout, explain }: Engine, container: Container, withinMs: number) {
  const attached = { Tty: true, AttachStdout: true, AttachStderr: true };
  const command = { Cmd: ["nvidia-smi", "-L"], Env: [safePath], User: "0:0", ...attached };
  const exec = await withTimeout((abortSignal) => container.exec({ ...command, abortSignal }));
  const timeout = AbortSignal.timeout(withinMs);
  const reading = exec.start({ Tty: true, hijack: false, stdin: false, abortSignal: timeout }).then(text);
  const output = await reading.catch((error) => {
    if (!timeout.aborted) throw explain(error);
    return "";
  });
  // Output that was cut short ends like any other: only this says whether the program did.
  const { ExitCode, Running } = await withTimeout((abortSignal) => exec.inspect({ abortSignal }));
  return { output, exitCode: ExitCode, isRunning: Running, timedOut: timeout.aborted };
}

/**
 * The connection may be dead, or the run may leave the check no CPU: then the machine itself still sees the GPUs, and this
 * throws `unavailable`.
 */
async function faultAfterTimeout(
  { withTimeout }: Engine,
  devices: readonly string[],
  usageOf: UsageOf,
  { isRunning, withinMs }: { readonly isRunning: boolean; readonly withinMs: number },
): Promise<string> {
  const message = `nvidia-smi did not end within ${withinMs / 1000} s`;
  const working = isRunning ? await withTimeout(() => usageOf(devices)).catch(() => []) : undefined;
  const isInconclusive = !working || devices.every((device) => working.some(({ id }) => id === device));
  if (isInconclusive) throw new DriverError("unavailable", `${message} inside, which is inconclusive`);
  return message;
}
