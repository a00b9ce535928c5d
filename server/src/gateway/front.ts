import { createServer, type RequestListener, type Server } from "node:http";
import { type Gateway, serverOptions } from "./gateway.ts";
import type { Hosts } from "./hosts.ts";
import { wrongHostRefusal } from "./pages.ts";
import { refuse, refuseUnread, refuseUpgrade } from "./refuse.ts";

interface Parts {
  readonly hosts: Hosts;
  /** Without a slash at its end. */
  readonly appUrl: string;
  /** With the role `gateway`: environments and foreign names. */
  readonly gateway: Gateway | undefined;
  /** With the role `api`: the app's own host. */
  readonly app?: RequestListener;
}

/** The server in front, which gives each host to the role that serves it (G90). A role of another process is refused: 421 (G115). */
export function frontServer({ hosts, appUrl, gateway, app }: Parts): Server {
  const refusal = wrongHostRefusal(appUrl);
  const server = createServer(serverOptions, (request, response) => {
    if (hosts.kindOf(request.headers.host) === "app") app ? app(request, response) : refuse(request, response, refusal);
    else gateway ? gateway.onRequest(request, response) : refuse(request, response, refusal);
  });
  server.on("upgrade", (request, socket, head) => {
    if (gateway) return gateway.onUpgrade(request, socket, head);
    socket.on("error", () => socket.destroy());
    refuseUpgrade(socket, refusal);
  });
  server.on("clientError", (error, socket) => refuseUnread(error, socket, appUrl));
  return server;
}
