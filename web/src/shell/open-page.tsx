import { isPort, type ProductConfig, portLabel, signInCode } from "@berth/contract";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { ApiError } from "../api/api-error.ts";
import { call, messageOf } from "../api/call.ts";
import { endPermit, isOpeningPermitted } from "../api/open-permits.ts";
import { useConfig } from "../api/product-config.ts";
import { profileQuery } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { commonTexts } from "../content/common-texts.ts";
import { LoadingScreen } from "./loading-screen.tsx";
import { NotFoundPage } from "./not-found-page.tsx";
import { PlainPage } from "./plain-page.tsx";

/**
 * The gateway redirects owners without a cookie here; fetches a one-time code and returns to the gateway (G40). Any page can
 * lead here, so it asks first unless its owner comes from Open Session (G301).
 */
export function OpenPage() {
  const [search] = useSearchParams();
  const environment = search.get("environment") ?? "";
  const port = search.has("port") ? Number(search.get("port")) : undefined;
  // What is permitted is one host name, as its sign-in is (G301, G387).
  const host = port === undefined ? environment : portLabel(port, environment);
  const [permitted, setPermitted] = useState(() => isOpeningPermitted(host));
  useEffect(() => endPermit(host), [host]);
  if (!isName.test(environment) || (port !== undefined && !isPort(port))) return <NotFoundPage />;
  const place = { environment, port, host };
  const opening = <Opening {...place} path={search.get("path")} visit={search.get("visit")} />;
  return permitted ? opening : <Question {...place} otherwise={opening} onYes={() => setPermitted(true)} />;
}

interface Place {
  readonly environment: string;
  /** The port inside that is opened; undefined: JupyterLab. */
  readonly port: number | undefined;
  /** The label of the host name. */
  readonly host: string;
}

interface QuestionProps extends Place {
  /** For a name that is not the user's: there is nothing to ask, as nothing is opened. */
  readonly otherwise: ReactNode;
  readonly onYes: () => void;
}

function Question({ environment, port, otherwise, onYes }: QuestionProps) {
  const userId = useSession()?.userId ?? "";
  const { data, isPending } = useQuery(profileQuery(userId));
  if (isPending) return <LoadingScreen>Opening your environment...</LoadingScreen>;
  const own = Object.entries(data?.user_data.containers ?? {});
  if (data && !own.some(([id, { subdomain }]) => id === environment || subdomain === environment)) return otherwise;
  const what = port === undefined ? environment : `port ${port} of ${environment}`;
  return (
    <PlainPage title={`Open ${what}?`} action={<Button onClick={onYes}>Open {what}</Button>}>
      This browser is then signed in to the environment. Go on if you opened it yourself.
    </PlainPage>
  );
}

interface OpeningProps extends Place {
  readonly path: string | null;
  readonly visit: string | null;
}

function Opening({ environment, port, host, path, visit }: OpeningProps) {
  const config = useConfig();
  const code = useQuery({
    queryKey: ["sign-in-code", host, visit],
    // `visit` binds the code to the browser that the gateway redirected here.
    queryFn: () => call(signInCode, { params: { id: environment }, body: { visit: visit ?? undefined, port } }),
    // A code is valid once, for 30 seconds.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const url = code.data?.url;
  useEffect(() => {
    if (url !== undefined) location.replace(withPath(url, path));
  }, [url, path]);
  const refused = code.error instanceof ApiError && code.error.status === 404;
  const elsewhere = refused && config ? `${environmentOrigin(config, host)}/_berth/not-found` : undefined;
  useEffect(() => {
    // The gateway shows the same page for a free name and another user's.
    if (elsewhere !== undefined) location.replace(elsewhere);
  }, [elsewhere]);
  if (refused || !code.error) return <LoadingScreen>Opening your environment...</LoadingScreen>;
  return (
    <PlainPage
      title="The environment could not be opened"
      action={<Button onClick={() => void code.refetch()}>{commonTexts.tryAgain}</Button>}
    >
      {messageOf(code.error)}
    </PlainPage>
  );
}

const isName = /^[a-z0-9-]{1,64}$/;

function environmentOrigin({ environmentUrl }: ProductConfig, label: string): string {
  return environmentUrl.replace("{subdomain}", label);
}

/** The final path is a query parameter; the gateway accepts only its own paths. */
function withPath(url: string, path: string | null): string {
  if (path === null) return url;
  const target = new URL(url);
  target.searchParams.set("path", path);
  return target.href;
}
