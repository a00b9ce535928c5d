import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { recordLog } from "../logging/testing/record-log.ts";
import { freePort } from "../testing/free-port.ts";
import { serveSsh } from "./serve-ssh.ts";

test("G405 a port of SSH that is taken ends no start and is told once; a free one is served", async () => {
  const port = await freePort();
  const taken = createServer().listen(port, "127.0.0.1");
  await once(taken, "listening");
  const { log, lines } = recordLog();
  const gateway = { onSshConnection: (socket: { end(text: string): unknown }) => void socket.end("served") };
  const common = { config: { ssh: { port, host: "127.0.0.1" } }, gateway, log };
  expect(await serveSsh(common)).toMatchObject({ isServed: false });
  expect(lines).toMatchObject([{ event: "ssh.not_served", code: "EADDRINUSE" }]);
  taken.close();
  await once(taken, "close");
  const { isServed, stop } = await serveSsh(common);
  let said = "";
  for await (const bytes of connect(port, "127.0.0.1")) said += bytes;
  expect([isServed, said, lines.length]).toEqual([true, "served", 1]);
  await stop();
  expect(await serveSsh({ ...common, gateway: undefined })).toMatchObject({ isServed: undefined });
});
