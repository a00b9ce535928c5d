import {
  type Action,
  actOnContainer,
  cancelLaunch,
  capacity,
  environmentDetail,
  environmentSamples,
  type SampleSpan,
  subdomainCheck,
  terminate as terminateEnvironment,
} from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, notFound, success } from "../http/mount.ts";
import { act, cancel, terminate } from "./actions.ts";
import { readCapacity } from "./capacity.ts";
import { detailOf } from "./detail.ts";
import { environmentOf } from "./environments.ts";
import { checkName } from "./names.ts";
import { samplesOf } from "./samples.ts";

export interface EnvironmentRouteParts {
  readonly db: Db;
  readonly environmentUrl: (subdomain: string) => string;
}

export function environmentRoutes(app: FastifyInstance, { db, environmentUrl }: EnvironmentRouteParts): void {
  mount(app, actOnContainer, async ({ params, user }) => {
    // The route lists the allowed words; another one is an unknown path.
    await act(db, { id: params.container_id, userId: user.id }, params.action as Action);
    return success;
  });

  mount(app, environmentDetail, async ({ params, user }) => {
    const row = await environmentOf(db, params.id, user.id);
    if (!row) throw notFound();
    return { ...success, environment: await detailOf(db, row, environmentUrl(row.subdomain)) };
  });

  mount(app, environmentSamples, async ({ params, query, user }) => {
    if (!(await environmentOf(db, params.id, user.id))) throw notFound();
    return { ...success, ...(await samplesOf(db, params.id, query["span"] as SampleSpan)) };
  });

  mount(app, terminateEnvironment, async ({ params, body, user }) => {
    await terminate(db, { id: params.id, userId: user.id }, body.confirm);
    return success;
  });

  mount(app, cancelLaunch, async ({ params, user }) => {
    await cancel(db, { id: params.id, userId: user.id });
    return success;
  });

  mount(app, capacity, async () => ({ ...success, ...(await readCapacity(db)) }));

  mount(app, subdomainCheck, async ({ params, user }) => ({
    ...success,
    ...(await checkName(db, params.name, user.id)),
  }));
}
