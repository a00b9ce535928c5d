import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import { ApiError } from "../api/api-error.ts";
import { profileQuery, validateQuery } from "../api/queries.ts";
import { isLeaving, type Session, setLeaving, signOut, useSession } from "../api/session.ts";
import type { AuthState } from "../auth/auth-page.tsx";
import { commonTexts } from "../content/common-texts.ts";
import { LoadingScreen } from "./loading-screen.tsx";
import { PlainPage } from "./plain-page.tsx";

/**
 * Admits signed-in users. A 401 ends the session before this renders; a network error does not (G45).
 */
export function Guard() {
  const session = useSession();
  const { pathname, search } = useLocation();
  useEffect(() => {
    // An incomplete sign-in is removed (spec 2.2).
    if (!session) signOut();
  }, [session]);
  useEffect(() => setLeaving(false), []);
  const [had, setHad] = useState(session !== undefined);
  if (session && !had) setHad(true);
  if (!session) {
    const to = `/login?from=${encodeURIComponent(pathname + search)}`;
    if (isLeaving()) return <Navigate to="/login" replace />;
    // The session ended without a sign-out.
    return <Navigate to={to} replace state={{ ended: had } satisfies AuthState} />;
  }
  return <Checked key={session.userId} session={session} />;
}

/** Where a second factor is set up, before anything else if it is required (G402). */
const securityTab = "/settings?tab=security";

function Checked({ session }: { session: Session }) {
  const check = useQuery(validateQuery(session.userId));
  const { pathname, search } = useLocation();
  // Prefetched in parallel with the check.
  useQuery(profileQuery(session.userId));
  if (check.data) return <Outlet />;
  if (check.error instanceof ApiError && check.error.code === "second_factor_required")
    return `${pathname}${search}` === securityTab ? <Outlet /> : <Navigate to={securityTab} replace />;
  if (!check.error || check.isFetching) return <LoadingScreen />;
  return (
    <PlainPage
      title="Server failure, please go to Dashboard and refresh"
      action={<Button onClick={() => void check.refetch()}>{commonTexts.tryAgain}</Button>}
    >
      You are still signed in, and your environments are not affected.
    </PlainPage>
  );
}
