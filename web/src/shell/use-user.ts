import { useQuery } from "@tanstack/react-query";
import { profileQuery } from "../api/queries.ts";
import { useSession } from "../api/session.ts";

export interface ShownUser {
  readonly name: string;
  readonly email: string;
  readonly initial: string;
}

/** The signed-in user in the frame; "User" until the name is loaded (spec 2.3). */
export function useUser(): ShownUser {
  const session = useSession();
  const profile = useQuery({ ...profileQuery(session?.userId ?? ""), enabled: session !== undefined }).data?.profile;
  const name = profile?.name.trim() || "User";
  return { name, email: profile?.email ?? session?.email ?? "", initial: (Array.from(name)[0] ?? "U").toUpperCase() };
}
