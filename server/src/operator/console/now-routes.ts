import { checkAgain, readOverview as overview } from "@berth/contract/console/overview";
import type { FastifyInstance } from "fastify";
import { mount, success } from "../../http/mount.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { readOverview } from "./read-overview.ts";

export function nowRoutes(app: FastifyInstance, { db, diagnosis }: Pick<ConsoleDeps, "db" | "diagnosis">): void {
  mount(app, overview, async () => ({ ...success, ...(await readOverview(db, diagnosis.latest())) }));
  mount(app, checkAgain, async () => {
    diagnosis.again();
    return success;
  });
}
