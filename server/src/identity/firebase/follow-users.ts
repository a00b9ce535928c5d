import { IdentityError } from "../identity.ts";
import { endAuthSessions } from "../local/auth-sessions.ts";
import type { UserRow } from "../local/users.ts";
import { type HostedUser, type MirrorDeps, recordUser } from "./mirror.ts";
import { isUnknown } from "./provider-calls.ts";

const followMs = 60_000;
/** Until an address is confirmed, which happens between the browser and the provider. */
const unconfirmedMs = 5_000;
const awayMs = 5_000;
const maxKnown = 10_000;

export interface Following {
  /** Looks now. Throws USER_DISABLED, TOKEN_REVOKED without such an account, UNAVAILABLE and EMAIL_EXISTS. */
  look(uid: string): Promise<void>;
  /** Looks once a minute, and says whether it did. While the provider is away what was known last holds. */
  lookIfDue(row: UserRow): Promise<boolean>;
}

/** Follows what happens to accounts at the hosted provider: new passwords, ended sign-ins, disabled and deleted accounts. */
export function followUsers(deps: MirrorDeps, find: (uid: string) => Promise<HostedUser | null>): Following {
  const looks = new Map<string, { readonly at: number; readonly done: Promise<void> }>();
  let awayUntil = Number.NEGATIVE_INFINITY;

  const look = (uid: string): Promise<void> => {
    const done = lookAt(deps, find, uid);
    looks.delete(uid);
    looks.set(uid, { at: performance.now(), done });
    if (looks.size > maxKnown) looks.delete(looks.keys().next().value ?? "");
    done.catch(() => {
      if (looks.get(uid)?.done === done) looks.delete(uid);
    });
    return done;
  };

  return {
    look,
    async lookIfDue(row) {
      const last = looks.get(row.id);
      const isDue = !last || performance.now() - last.at > (row.email_verified ? followMs : unconfirmedMs);
      if (isDue && performance.now() < awayUntil) return false;
      const looked = isDue ? look(row.id) : last.done;
      await looked.catch((error: unknown) => {
        if (!(error instanceof IdentityError)) throw error;
        if (error.code === "UNAVAILABLE") awayUntil = performance.now() + awayMs;
      });
      return isDue;
    },
  };
}

async function lookAt(deps: MirrorDeps, find: (uid: string) => Promise<HostedUser | null>, uid: string): Promise<void> {
  const hosted = await find(uid);
  if (hosted) {
    await recordUser(deps, hosted).catch(deletedHere);
    if (hosted.disabled) throw new IdentityError("USER_DISABLED");
    return;
  }
  await deps.db.transaction().execute((tx) => endAuthSessions(tx, uid, { reason: "deleted" }));
  throw new IdentityError("TOKEN_REVOKED");
}

/** The provider has yet to be told of the deletion. */
function deletedHere(error: unknown): never {
  if (isUnknown(error)) throw new IdentityError("TOKEN_REVOKED");
  throw error;
}
