import { createServer, type RequestListener, type Server } from "node:http";
import type { TrustProxy } from "../http/client-address.ts";
import { limitBody } from "../http/limit-body.ts";
import { limitConnections } from "../http/limit-connections.ts";
import { type Gateway, serverOptions } from "./gateway.ts";
import { wrongHostRefusal } from "./refusals/refusals.ts";
import { refuse, refuseUnread, refuseUpgrade } from "./refusals/refuse.ts";
import type { HostNames } from "./target/host-names.ts";

interface Parts {
  readonly hosts: HostNames;
  /** Without a slash at its end. */
  readonly appUrl: string;
  readonly trustProxy: TrustProxy;
  /** With the role `gateway`: environments and foreign names. */
  readonly gateway: Gateway | undefined;
  /** With the role `api`: the app's own host. */
  readonly app?: RequestListener;
}

/** The server in front, which gives each host to the role that serves it (G90). A role of another process is refused: 421 (G115). */
export function frontServer({ hosts, appUrl, trustProxy, gateway, app }: Parts): Server {
  const refusal = wrongHostRefusal(appUrl);
  const serveApp = app && limited(app);
  const server = createServer(serverOptions, (request, response) => {
    const role = hosts.kindOf(request.headers.host) === "app" ? serveApp : gateway?.onRequest;
    role ? role(request, response) : refuse(request, response, refusal);
  });
  limitConnections(server, trustProxy);
  server.on("upgrade", (request, socket, head) => {
    if (gateway) return gateway.onUpgrade(request, socket, head);
    socket.on("error", () => socket.destroy());
    refuseUpgrade(socket, refusal);
  });
  server.on("clientError", (error, socket) => refuseUnread(error, socket, appUrl));
  return server;
}

/** Uploads to environments take as long as they take; a body for the app has a time limit. */
function limited(app: RequestListener): RequestListener {
  return (request, response) => {
    limitBody(request, response);
    app(request, response);
  };
}
