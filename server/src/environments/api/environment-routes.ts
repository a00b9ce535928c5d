import {
  type Action,
  actOnContainer,
  type Catalogue,
  cancelLaunch,
  capacity,
  environmentDetail,
  environmentSamples,
  environmentSsh,
  joinQueue,
  leaveQueue,
  listPorts,
  measuredDays,
  notOffered,
  pricesAt,
  productStatus,
  readQueue,
  type SampleSpan,
  setDoneNotice as setDoneNoticeCall,
  setIdleStop as setIdleStopCall,
  snoozeIdleStop as snoozeIdleStopCall,
  startEnvironment,
  startFresh as startFreshCall,
  subdomainCheck,
  terminate as terminateEnvironment,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import { batch } from "../../async/batch.ts";
import { memoize } from "../../async/memoize.ts";
import type { Db } from "../../database/database.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import { installationOf } from "../../installation/installation.ts";
import { setDoneNotice } from "../activity/done-notice.ts";
import { setIdleStop, snoozeIdleStop } from "../activity/idle-stop.ts";
import { samplesOf } from "../activity/samples.ts";
import { checkName } from "../allocation/name-reservations.ts";
import { environmentOf, environmentReader } from "../environment.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { enterQueue, exitQueue, type MayOrder, queuePositionOf } from "../queue/join-queue.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { act, cancel, terminate } from "./environment-actions.ts";
import { detailReader } from "./environment-detail.ts";
import { portsOf } from "./ports-of.ts";
import { type JumpHost, sshAccessOf } from "./ssh-access.ts";
import { startFresh } from "./start-fresh.ts";

export interface EnvironmentRouteDeps {
  readonly db: Db;
  readonly environmentUrl: (subdomain: string) => string;
  readonly mayOrder: MayOrder;
  readonly catalogue: Catalogue;
  /** Undefined where SSH is switched off. */
  readonly jumpHost: JumpHost | undefined;
}

export function environmentRoutes(app: FastifyInstance, deps: EnvironmentRouteDeps): void {
  const { db, environmentUrl } = deps;
  const find = environmentReader(db);
  const detailOf = detailReader(db, environmentUrl);
  mount(app, environmentDetail, async ({ params, user }) => {
    const row = await find({ id: params.id, userId: user.id });
    if (!row) throw notFound();
    return { ...success, environment: await detailOf(row) };
  });

  mount(app, environmentSamples, async ({ params, query, user }) => {
    if (!(await environmentOf(db, params.id, user.id))) throw notFound();
    return { ...success, ...(await samplesOf(db, params.id, query["span"] as SampleSpan)) };
  });

  mount(app, listPorts, async ({ params, user }) => {
    const row = await environmentOf(db, params.id, user.id);
    if (!row) throw notFound();
    return { ...success, ports: await portsOf(row) };
  });

  mount(app, environmentSsh, async ({ params, user }) => {
    const row = await environmentOf(db, params.id, user.id);
    if (!row) throw notFound();
    return { ...success, ...(await sshAccessOf(row, deps.jumpHost)) };
  });

  mount(app, setIdleStopCall, async ({ params, body, user }) => ({
    ...success,
    idle_stop: await setIdleStop(db, { id: params.id, userId: user.id }, body.minutes),
  }));

  mount(app, snoozeIdleStopCall, async ({ params, user }) => ({
    ...success,
    idle_stop: await snoozeIdleStop(db, { id: params.id, userId: user.id }),
  }));

  mount(app, setDoneNoticeCall, async ({ params, body, user }) => ({
    ...success,
    done_notice: await setDoneNotice(db, { id: params.id, userId: user.id }, body.mode),
  }));

  actionRoutes(app, db);
  publicRoutes(app, deps);
  queueRoutes(app, deps);

  mount(app, subdomainCheck, async ({ params, user }) => ({
    ...success,
    ...(await checkName(db, params.name, user.id)),
  }));
}

function actionRoutes(app: FastifyInstance, db: Db): void {
  mount(app, actOnContainer, async ({ params, user }) => {
    // The route lists the actions; another one is an unknown path.
    await act(db, { id: params.container_id, userId: user.id }, params.action as Action);
    return success;
  });

  mount(app, startEnvironment, async ({ params, body, user }) => {
    await act(db, { id: params.id, userId: user.id }, "start", body.without_settings);
    return success;
  });

  mount(app, startFreshCall, async ({ params, user }) => {
    await startFresh(db, { id: params.id, userId: user.id });
    return success;
  });

  mount(app, terminateEnvironment, async ({ params, body, user }) => {
    await terminate(db, { id: params.id, userId: user.id }, body.confirm);
    return success;
  });

  mount(app, cancelLaunch, async ({ params, user }) => {
    await cancel(db, { id: params.id, userId: user.id });
    return success;
  });
}

/** The queue (G86). */
function queueRoutes(app: FastifyInstance, { db, mayOrder, catalogue }: EnvironmentRouteDeps): void {
  mount(app, joinQueue, async ({ body, user }) => {
    const { gpu_count } = body;
    if (notOffered(catalogue, pricesAt(catalogue, new Date()), { gpu_count }))
      throw new AppError("invalid_request", `gpu_count: ${gpu_count} is not offered`);
    await enterQueue(db, user.id, gpu_count, mayOrder);
    return { ...success, place: await queuePositionOf(db, user.id) };
  });

  mount(app, readQueue, async ({ user }) => ({ ...success, place: await queuePositionOf(db, user.id) }));

  mount(app, leaveQueue, async ({ user }) => {
    await db.transaction().execute((tx) => exitQueue(tx, user.id));
    return success;
  });
}

/** Public figures. Launch times are the same for all, so a month of them is not read for each call. */
function publicRoutes(app: FastifyInstance, { db, catalogue }: EnvironmentRouteDeps): void {
  const times = memoize(() => launchTimes(db));
  const status = memoize(async () => {
    const [{ kind, total, free, counts }, { startedAt }] = await Promise.all([
      readCapacity(db, catalogue),
      installationOf(db),
    ]);
    return { since: startedAt.toISOString(), capacity: { kind, total, free, counts } };
  });

  // It has to be current, but calls of the same moment may share one result.
  const asOfNow = batch(async (all: readonly unknown[]) => {
    const now = await readCapacity(db, catalogue);
    return all.map(() => now);
  });
  mount(app, capacity, async () => {
    const [now, { cold }] = await Promise.all([asOfNow(undefined), times()]);
    const launch = cold && { p50_ms: cold.p50_ms, p95_ms: cold.p95_ms, count: cold.count };
    return { ...success, ...now, launch };
  });

  mount(app, productStatus, async () => {
    const [now, launches] = await Promise.all([status(), times()]);
    return { ...success, ...now, days: measuredDays, ...launches };
  });
}
