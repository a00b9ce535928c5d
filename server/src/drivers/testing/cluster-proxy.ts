import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, RequestOptions, ServerResponse } from "node:http";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { KubeConfig } from "@kubernetes/client-node";
import { kubernetesDriver } from "../kubernetes/kubernetes-driver.ts";
import { certificatesIn } from "./certificates-in.ts";
import { openKubernetesMachine } from "./kubernetes-machine.ts";

export type ProxiedMachine = Awaited<ReturnType<typeof openProxiedMachine>>;

/** A machine that has JupyterLab's image, with a proxy in front of its API server. */
export async function openProxiedMachine() {
  const machine = await openKubernetesMachine();
  const proxy = await openClusterProxy(machine.optionsOf().kubeconfig ?? "");
  await (await machine.open()).prepare("jupyter");
  return {
    machine,
    proxy,
    /** A driver with the address of the proxy. */
    openBehind: () => kubernetesDriver({ ...machine.optionsOf(), kubeconfig: proxy.kubeconfig }),
    async close() {
      await proxy.close();
      await machine.close();
    },
  };
}

/** An API server's address in front of a real one, with faults of watches, connections and clocks. */
interface ClusterProxy {
  /** A kubeconfig with the same user at this address. */
  readonly kubeconfig: string;
  /** Of what is asked from now on: `event` and `status` answer watches with 410, in the stream and by the reply; cut breaks all. */
  fault: "none" | "event" | "status" | "cut";
  /** How far the cluster's clock is ahead, in milliseconds: of the reply's date, and of every time in it. */
  aheadMs: number;
  /** Watches that were asked for. */
  watches(): number;
  /** Breaks what is open. */
  drop(): void;
  close(): Promise<void>;
}

async function openClusterProxy(kubeconfig: string): Promise<ClusterProxy> {
  const folder = mkdtempSync(join(tmpdir(), "berth-proxy-"));
  const { authority, issue, at } = certificatesIn(folder);
  await authority("ca");
  await issue("server", { ca: "ca", address: "127.0.0.1" });
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  let watches = 0;
  const tls = { key: readFileSync(at("server-key.pem")), cert: readFileSync(at("server.pem")) };
  const server = createServer(tls, (asked, reply) => {
    const isWatch = /[?&]watch=true/.test(asked.url ?? "");
    if (isWatch) watches += 1;
    void answer(proxy, config, asked, reply, isWatch).catch(() => reply.destroy());
  });
  const proxy: ClusterProxy = {
    kubeconfig: join(folder, "kubeconfig.json"),
    fault: "none",
    aheadMs: 0,
    watches: () => watches,
    drop: () => server.closeAllConnections(),
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(proxy.kubeconfig, JSON.stringify(pointedAt(config, address, at("ca.pem"))));
  return proxy;
}

function pointedAt(config: KubeConfig, server: string, ca: string): object {
  const content = JSON.parse(config.exportConfig());
  for (const each of content.clusters) each.cluster = { server, "certificate-authority": ca };
  return content;
}

/** The user of the kubeconfig asks upstream, as whom the caller asks for. */
async function answer(
  proxy: ClusterProxy,
  config: KubeConfig,
  asked: IncomingMessage,
  reply: ServerResponse,
  isWatch: boolean,
): Promise<void> {
  if (proxy.fault === "cut") return void reply.destroy();
  if (isWatch && proxy.fault === "status") return void reply.writeHead(410).end(JSON.stringify(tooOld));
  if (isWatch && proxy.fault === "event")
    return void reply.end(`${JSON.stringify({ type: "ERROR", object: tooOld })}\n`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
  const { host: _, connection: __, ...headers } = asked.headers;
  const url = `${config.getCurrentCluster()?.server}${asked.url}`;
  const sent = request(url, { ...options, method: asked.method, headers: { ...options.headers, ...headers } });
  reply.on("close", () => sent.destroy());
  sent.on("error", () => reply.destroy());
  asked.pipe(sent);
  const [there] = (await once(sent, "response")) as [IncomingMessage];
  const date = new Date(Date.now() + proxy.aheadMs).toUTCString();
  reply.writeHead(there.statusCode ?? 500, { "content-type": there.headers["content-type"] ?? "", date });
  reply.flushHeaders();
  if (!isWatch) return void reply.end(shifted(await text(there), proxy.aheadMs));
  for await (const line of createInterface(there)) reply.write(`${shifted(line, proxy.aheadMs)}\n`);
  reply.end();
}

const tooOld = { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old resource version" };

function shifted(body: string, aheadMs: number): string {
  if (aheadMs === 0) return body;
  return body.replace(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"/g, (_, time: string) =>
    JSON.stringify(new Date(Date.parse(time) + aheadMs).toISOString()),
  );
}
