import type { ContainerInspectInfo, ContainerStats } from "dockerode";
import type { Endpoint, Observed, Stats } from "../../driver.ts";
import { label, labPort } from "./container-body.ts";

/** A container that is older than this and was never started has lost its starter. */
const startingMs = 3_000;

/** The engine's record of one of our containers, as the driver port describes a run. */
export function observeContainer(info: ContainerInspectInfo): Observed {
  const { Status, StartedAt, ExitCode, OOMKilled } = info.State;
  const labels = info.Config.Labels;
  const createdAt = new Date(info.Created);
  const run = {
    generation: Number(labels[label.generation]),
    specHash: labels[label.spec] ?? "",
    gpus: labels[label.gpus]?.split(",").filter(Boolean) ?? [],
    createdAt,
  };
  const started = { ...run, startedAt: new Date(StartedAt) };
  const endpoint = endpointOf(info);
  if (Status === "created" && Date.now() - createdAt.getTime() < startingMs) return { ...run, state: "starting" };
  if (Status === "paused" && endpoint) return { ...started, state: "paused", endpoint };
  if (Status === "running")
    return endpoint ? { ...started, state: "running", endpoint } : { ...started, state: "starting" };
  // Before the first start the engine reports the year 1.
  const hasStarted = started.startedAt.getTime() > 0;
  return { ...(hasStarted ? started : run), state: "stopped", exit: { code: ExitCode, outOfMemory: OOMKilled } };
}

/** The published port, or the container's own address where no port is published; undefined while it has neither. */
function endpointOf({ HostConfig, NetworkSettings }: ContainerInspectInfo): Endpoint | undefined {
  const published = NetworkSettings.Ports[labPort]?.[0];
  if (published) return { host: published.HostIp, port: Number(published.HostPort) };
  if (HostConfig.PortBindings?.[labPort]) return undefined;
  const address = NetworkSettings.Networks[HostConfig.NetworkMode ?? ""]?.IPAddress;
  return address ? { host: address, port: Number.parseInt(labPort, 10) } : undefined;
}

/** CPU, memory, processes and traffic of a container; memory leaves out page cache that the kernel can drop at once. */
export function usageOf(stats: ContainerStats): Omit<Stats, "homeMb" | "gpus"> {
  const { usage = 0, stats: parts } = stats.memory_stats;
  // The names of cgroup v1 and of v2.
  const cache = parts?.total_inactive_file ?? parts?.inactive_file ?? 0;
  const networks = Object.values(stats.networks ?? {});
  return {
    cpuSeconds: stats.cpu_stats.cpu_usage.total_usage / 1e9,
    memoryMb: Math.max(0, usage - cache) / 1e6,
    pids: stats.pids_stats?.current ?? 0,
    receivedBytes: networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
    sentBytes: networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
  };
}
