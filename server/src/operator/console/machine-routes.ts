import { actOnGpu, actOnHost, type GpuAct, type HostAct, readMachines } from "@berth/contract/console/machines";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Author } from "../../audit/record-act.ts";
import { mount, success } from "../../http/mount.ts";
import { loseHost } from "../capacity/add-host.ts";
import { drainHost, readHosts, undrainHost } from "../capacity/drain-host.ts";
import { quarantineGpu, readGpus, releaseGpu } from "../capacity/quarantine-gpu.ts";
import { movesText, readMoves } from "../capacity/read-moves.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";

type MachineDeps = Pick<ConsoleDeps, "db" | "announce">;

/** Hosts and GPUs: what `operator -- hosts` and `operator -- gpus` do. */
export function machineRoutes(app: FastifyInstance, deps: MachineDeps): void {
  mount(app, readMachines, async () => {
    const [hosts, gpus] = await Promise.all([readHosts(deps.db), readGpus(deps.db)]);
    const iso = (at: Date | null) => at?.toISOString() ?? null;
    return {
      ...success,
      hosts: hosts.map((host) => ({
        ...host,
        ...{ drained_at: iso(host.drained_at), away_since: iso(host.away_since), lost_at: iso(host.lost_at) },
        moving_since: iso(host.moving_since),
      })),
      gpus: gpus.map((gpu) => ({ ...gpu, quarantined_at: iso(gpu.quarantined_at) })),
    };
  });
  mount(app, actOnHost, async ({ params: { id, act }, body, request }) => {
    const author = authorOf(request, body.reason);
    if (act === "lose" && body.typed !== id)
      throw new AppError("invalid_request", `Type ${id}, the name of the host that is lost`);
    return { ...success, message: await hostActs[act as HostAct](deps, id, author) };
  });
  mount(app, actOnGpu, async ({ params: { id, act }, body, request }) => {
    const author = authorOf(request, body.reason);
    return { ...success, message: await gpuActs[act as GpuAct](deps, id, author) };
  });
}

type Act = (deps: MachineDeps, id: string, author: Author) => Promise<string>;

/** Each returns the sentence that says what was done. */
const hostActs: Readonly<Record<HostAct, Act>> = {
  async drain({ db, announce }, id, author) {
    const notified = await drainHost(db, announce, id, author);
    return notified === undefined ? `${id} drains already` : `${id} drains; owners notified: ${notified}`;
  },
  async move({ db, announce }, id, author) {
    const notified = await drainHost(db, announce, id, author, { moves: true });
    const done = notified === undefined ? `${id} drains so already` : `${id} drains; owners notified: ${notified}`;
    return `${done}. ${movesText(await readMoves(db, id))}`;
  },
  async undrain({ db, announce }, id, author) {
    return (await undrainHost(db, announce, id, author)) ? `${id} takes environments again` : `${id} did not drain`;
  },
  async lose({ db, announce }, id, author) {
    const notified = await loseHost(db, announce, id, author);
    return notified === undefined ? `${id} is lost already` : `${id} is lost; owners notified: ${notified}`;
  },
};

const gpuActs: Readonly<Record<GpuAct, Act>> = {
  async quarantine({ db }, id, author) {
    const held = await quarantineGpu(db, id, author);
    return held ? `${id} is quarantined; its holder keeps it to the end` : `${id} is quarantined`;
  },
  async release({ db }, id, author) {
    return (await releaseGpu(db, id, author)) ? `${id} can be leased again` : `${id} was not quarantined`;
  },
};
