import { UpstreamError } from "../http-client/upstream-error.ts";
import type { Refusal } from "./refusals.ts";

interface About {
  readonly port: number;
  /** The path that was requested. */
  readonly path: string;
  readonly appUrl: string;
  readonly environmentId: string;
}

/** The refusal for an owner whose port gives no answer. */
export function portRefusal(error: Error | undefined, { port, path, appUrl, environmentId }: About): Refusal {
  const fault = error instanceof UpstreamError ? error.fault : undefined;
  const [code, title, text] = texts[fault === "not_listening" || fault === "too_old" ? fault : "silent"](port);
  return {
    status: 502,
    ...{ code, title, text },
    action: { label: "Try again", href: path },
    other: { label: "Show environment", href: `${appUrl}/environments/${environmentId}?tab=access` },
  };
}

type Text = readonly [code: string, title: string, text: string];

const texts: Readonly<Record<"not_listening" | "too_old" | "silent", (port: number) => Text>> = {
  not_listening: (port) => [
    "port_not_listening",
    `Nothing listens on port ${port} in this environment`,
    "Start the program, then try again.",
  ],
  too_old: () => [
    "no_ports",
    "This environment was started before ports had addresses",
    "Stop it and restart it once, then try again.",
  ],
  silent: (port) => [
    "port_not_answering",
    `Port ${port} does not answer`,
    "The program ended the connection without an answer, or JupyterLab, through which ports are reached, does not answer.",
  ],
};
