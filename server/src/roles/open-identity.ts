import type { Config } from "../config/config.ts";
import type { Db } from "../database/database.ts";
import { revokeAccess } from "../environments/api/revoke-access.ts";
import type { Announce } from "../environments/notice.ts";
import type { HostedIdentity } from "../identity/firebase/firebase-identity.ts";
import { type LocalIdentity, localIdentity } from "../identity/local/local-identity.ts";

interface IdentityDeps {
  readonly config: Pick<Config, "firebase" | "limits">;
  readonly db: Db;
  readonly secret: Buffer;
  readonly appUrl: string;
  readonly announce: Announce;
}

/** The identity provider of the settings. The hosted one's code is loaded only where it is used. */
export async function openIdentity({ config, ...deps }: IdentityDeps): Promise<LocalIdentity | HostedIdentity> {
  const { firebase: project, limits } = config;
  const shared = { ...deps, limits, endRights: revokeAccess };
  if (!project) return localIdentity(shared);
  const { firebaseIdentity } = await import("../identity/firebase/firebase-identity.ts");
  return firebaseIdentity({ ...shared, project });
}
