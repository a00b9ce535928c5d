import { randomBytes } from "node:crypto";
import { docker } from "../images/docker-command.ts";

interface CustomerNetwork {
  /** Words before a command that has to run in it; none where this user may not. */
  readonly launcher: readonly string[];
  /** The address of this machine there. */
  readonly gateway: string;
  close(): Promise<void>;
}

/**
 * A network whose interfaces stay, as a customer's does: with each container an engine changes those of its machine, and
 * Chromium breaks off its requests then (ERR_NETWORK_CHANGED). @param image has the command `sleep`
 */
export async function openCustomerNetwork(image: string): Promise<CustomerNetwork> {
  const name = `berth-customer-${randomBytes(4).toString("hex")}`;
  await docker(["run", "--detach", "--name", name, "--entrypoint", "sleep", image, "infinity"]);
  const format = "{{.State.Pid}} {{.NetworkSettings.Gateway}}";
  const [pid = "", gateway = ""] = (await docker(["inspect", "--format", format, name])).trim().split(" ");
  return {
    launcher: process.getuid?.() === 0 ? ["nsenter", `--net=/proc/${pid}/ns/net`] : [],
    gateway,
    close: async () => void (await docker(["rm", "--force", name])),
  };
}
