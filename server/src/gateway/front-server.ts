import { createServer, type RequestListener, type Server } from "node:http";
import type { TrustProxy } from "../http/client-address.ts";
import { isDraining, trackAnswers } from "../http/drain.ts";
import { limitBody } from "../http/limit-body.ts";
import { limitConnections } from "../http/limit-connections.ts";
import { type Gateway, serverOptions } from "./gateway.ts";
import { wrongHostRefusal } from "./refusals/refusals.ts";
import { endUpgrade, refuse, refuseUnread } from "./refusals/refuse.ts";
import type { HostNames } from "./target/host-names.ts";

interface FrontServerDeps {
  readonly hosts: HostNames;
  /** Without a slash at its end. */
  readonly appUrl: string;
  readonly trustProxy: TrustProxy;
  /** With the role `gateway`: serves environments and unknown hosts. */
  readonly gateway: Gateway | undefined;
  /** With the role `api`: serves the app's own host. */
  readonly app?: RequestListener;
}

/** A role that is not here counts nothing. */
const uncounted = { noteRefusal() {} };

/** The HTTP server in front of app and gateway; routes by host (G90). The host of a role in another process gets 421 (G115). */
export function frontServer({ hosts, appUrl, trustProxy, gateway, app }: FrontServerDeps): Server {
  const refusal = wrongHostRefusal(appUrl);
  const server = createServer(serverOptions, (request, response) => {
    // It is being stopped: the client's next request opens a connection to its successor.
    if (!server.listening || isDraining(server)) response.shouldKeepAlive = false;
    const role = hosts.kindOf(request.headers.host) === "app" ? serveApp : gateway?.onRequest;
    role ? role(request, response) : refuse(uncounted, request, response, refusal);
  });
  const serveApp = app && trackAnswers(server, limited(app));
  limitConnections(server, trustProxy);
  server.on("upgrade", (request, socket, head) => {
    if (gateway) return gateway.onUpgrade(request, socket, head);
    socket.on("error", () => socket.destroy());
    endUpgrade(socket, refusal);
  });
  server.on("clientError", (error, socket) => refuseUnread(error, socket, appUrl));
  return server;
}

/** A request body for the app has a timeout; uploads to environments have none. */
function limited(app: RequestListener): RequestListener {
  return (request, response) => {
    limitBody(request, response);
    app(request, response);
  };
}
