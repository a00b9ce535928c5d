import { settings, settingsFlags } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, success } from "../http/mount.ts";
import { changeFlags, readFlags } from "../identity/flags.ts";
import { readProfile } from "../identity/profiles.ts";

/** Serves the settings screen (G49, G63); identity changes profile and password. */
export function settingsRoutes(app: FastifyInstance, db: Db): void {
  mount(app, settings, async ({ user }) => {
    const [{ name, phone }, flags] = await Promise.all([readProfile(db, user), readFlags(db, user.id)]);
    return { ...success, profile: { name, email: user.email, phone }, flags };
  });

  mount(app, settingsFlags, async ({ user, body }) => {
    await changeFlags(db, user.id, body);
    return { ...success, success: true as const, message: "Settings updated successfully" };
  });
}
