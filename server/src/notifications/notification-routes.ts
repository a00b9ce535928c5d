import { listNotifications as listEndpoint, readNotifications } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { listNotifications, markRead } from "./notifications.ts";

export function notificationRoutes(app: FastifyInstance, db: Db): void {
  mount(app, listEndpoint, async ({ user }) => ({ ...success, ...(await listNotifications(db, user.id)) }));

  mount(app, readNotifications, async ({ user, body }) => {
    await markRead(db, user.id, body.ids);
    return success;
  });
}
