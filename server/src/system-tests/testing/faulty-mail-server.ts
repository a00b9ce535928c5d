import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Defer } from "./defer.ts";

/** An SMTP server that can refuse every mail for now. */
export async function faultyMailServer(defer: Defer) {
  const mail = { isRefusing: false };
  const later = () => Object.assign(new Error("later"), { responseCode: 451 });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onMailFrom: (_, __, done) => done(mail.isRefusing ? later() : undefined),
    onData(stream, _, done) {
      stream.on("end", done).resume();
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  defer(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(mail, { url: `smtp://127.0.0.1:${port}` });
}
