import { Button } from "@mantine/core";
import { useRouteError } from "react-router";
import { EmptyState, FreeSlots } from "../ui/display/empty-state.tsx";
import { isChunkFailure } from "./is-chunk-failure.ts";
import { LoadingScreen } from "./loading-screen.tsx";
import { PlainPage } from "./plain-page.tsx";
import { useReload } from "./use-reload.ts";

const reloading = "Loading the page again...";

/** Shown instead of a route that failed to render. */
export function ErrorPage() {
  const error = useRouteError();
  const { title, text } = textOf(error);
  if (useReload(error)) return <LoadingScreen>{reloading}</LoadingScreen>;
  return (
    <PlainPage title={title} action={<Reload />}>
      {text}
    </PlainPage>
  );
}

/** The same inside the signed-in frame. */
export function ScreenError() {
  const error = useRouteError();
  const { title, text } = textOf(error);
  if (useReload(error)) return <p role="status">{reloading}</p>;
  return (
    <EmptyState title={title} picture={<FreeSlots failed />} action={<Reload />}>
      {text}
    </EmptyState>
  );
}

function Reload() {
  return <Button onClick={() => location.reload()}>Reload</Button>;
}

function textOf(error: unknown): { title: string; text: string } {
  if (isChunkFailure(error)) {
    return {
      title: "Loading this page needs the connection",
      text: "It is loaded by itself when the connection is back. Nothing of yours is lost.",
    };
  }
  return {
    title: "This page broke",
    text: "The fault is ours. Your environments keep running; reload to try again.",
  };
}
