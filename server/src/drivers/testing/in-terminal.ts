import { Agent, WebSocket } from "undici";
import type { Driver, Spec } from "../driver.ts";
import { callLab, waitUntilReady } from "./drive-run.ts";

/** Runs a line in a new terminal of JupyterLab and returns its output. */
export async function runInTerminal(driver: Driver, wanted: Spec, line: string): Promise<string> {
  await waitUntilReady(driver, wanted);
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running") throw new Error(`it is ${seen.state}`);
  const { body } = await callLab(driver, wanted, "POST", "/api/terminals", 15_000);
  const { name } = body as { name: string };
  const { endpoint } = seen;
  const at = "socketPath" in endpoint ? "localhost" : `${endpoint.host}:${endpoint.port}`;
  const dispatcher = new Agent("socketPath" in endpoint ? { connect: { socketPath: endpoint.socketPath } } : {});
  const socket = new WebSocket(`ws://${at}/terminals/websocket/${name}?token=${wanted.token}`, { dispatcher });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  // The terminal echoes the typed line too, so the end mark is quoted in it.
  socket.addEventListener("open", () => socket.send(JSON.stringify(["stdin", `${line}; echo o""ver\r`])));
  socket.addEventListener("error", () => reject(new Error("no terminal")));
  socket.addEventListener("message", ({ data }) => {
    const [kind, text] = JSON.parse(String(data));
    if (kind === "stdout") printed += text;
    if (/^over\r?$/m.test(printed)) resolve(plain(printed));
  });
  try {
    return await promise;
  } finally {
    socket.close();
    await callLab(driver, wanted, "DELETE", `/api/terminals/${name}`, 15_000);
  }
}

/** Without the escape codes of bracketed paste. */
function plain(printed: string): string {
  return printed.replaceAll("\u001b[?2004l", "").replaceAll("\u001b[?2004h", "").replaceAll("\r", "");
}
