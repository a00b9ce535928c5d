import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { until } from "../../testing/customer.ts";

interface Held {
  /** Words before the command of a server: they open the port, and begin the command only after `begin`. */
  readonly launcher: readonly string[];
  /** Resolves when connections wait at the port. */
  readonly listening: () => Promise<void>;
  begin(): void;
}

/** A port that is open before its server runs, as `deploy/berth.socket` holds it. @param folder empty, for a mark */
export function holdPort(port: number, folder: string): Held {
  const mark = join(folder, "begin");
  // It passes on only the variables that are named.
  const activate = `exec systemd-socket-activate --listen=127.0.0.1:${port} $(env | sed "s/=.*//; s/^/-E /") "$@"`;
  const wait = 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"';
  return {
    launcher: ["sh", "-c", activate, "sh", "sh", "-c", wait, mark],
    listening: () => until("the port to be open", () => isOpen(port)).then(() => {}),
    begin: () => writeFileSync(mark, ""),
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const opened = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}
