import { Counter, Gauge } from "@prometheus-io/client";
import type { Gateway } from "../gateway/gateway.ts";
import type { Metrics } from "./create-metrics.ts";

/** Exports what the gateway counts in plain numbers. */
export function gatewayCollector({ metrics, gateway }: GatewayDeps): () => void {
  const registers = [metrics.registry];
  const requests = new Counter({
    name: "berth_gateway_requests_total",
    help: "Requests to environments: those that JupyterLab answered, by class of the status, and those that it did not see.",
    labelNames: ["answer"],
    registers,
  });
  const refusals = new Counter({
    name: "berth_gateway_refusals_total",
    help: "Requests and WebSockets to environments that the gateway refused, by the code of the refusal.",
    labelNames: ["code"],
    registers,
  });
  const sockets = new Counter({
    name: "berth_gateway_websockets_total",
    help: "WebSockets to environments that were begun.",
    registers,
  });
  const connections = new Counter({
    name: "berth_gateway_ssh_total",
    help: "SSH connections to environments that were begun.",
    registers,
  });
  const open = new Gauge({
    name: "berth_gateway_open",
    help: "Requests, WebSockets and SSH connections to environments in progress.",
    labelNames: ["kind"],
    registers,
  });
  return () => {
    const { answers, refused, own, webSockets, openWebSockets, ssh, openSsh } = gateway.counts;
    requests.reset();
    for (const [index, count] of answers.entries())
      requests.inc({ answer: index === 0 ? "aborted" : `${index}xx` }, count);
    requests.inc({ answer: "refused" }, refused);
    requests.inc({ answer: "gateway" }, own);
    refusals.reset();
    for (const [code, count] of gateway.counts.refusals) refusals.inc({ code }, count);
    sockets.reset();
    sockets.inc(webSockets);
    connections.reset();
    connections.inc(ssh);
    open.set({ kind: "websocket" }, openWebSockets);
    open.set({ kind: "ssh" }, openSsh);
    open.set({ kind: "request" }, gateway.openSockets - openWebSockets - openSsh);
  };
}

interface GatewayDeps {
  readonly metrics: Pick<Metrics, "registry">;
  readonly gateway: Pick<Gateway, "counts" | "openSockets">;
}
