import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { docker } from "../../images/docker-command.ts";
import { until } from "../../testing/customer.ts";
import { openShell, type Shell } from "./open-shell.ts";

/** A Debian machine without anything of Berth: a container with systemd and all rights, its engine's files on a volume. */
export interface Machine {
  readonly address: string;
  /** A shell of root in /root. */
  readonly shell: Shell;
  /** Copies a file of this machine into a folder. */
  copy(file: string, folder: string): Promise<void>;
  /** Gives its engine an image of this machine's engine, because there is no registry. */
  load(image: string, name: string): Promise<void>;
  /** Ends it; nothing of it stays. */
  remove(): Promise<void>;
}

/** Those of --privileged, but for a capability that virtual machines may lack themselves. */
const rights = [
  ...["--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE", "--cgroupns", "private"],
  ...["--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined"],
  ...["--security-opt", "systempaths=unconfined", "--device-cgroup-rule", "a *:* rwm"],
];

/** @param names resolve to the machine, with all names below them, on the machine itself and in its containers */
export async function startMachine(names: readonly string[]): Promise<Machine> {
  const image = await buildMachineImage("machine");
  const name = `berth-machine-${randomBytes(4).toString("hex")}`;
  const remove = async () => {
    await docker(["rm", "--force", "--volumes", name]).catch(() => {});
    await docker(["volume", "rm", "--force", name]).catch(() => {});
  };
  try {
    const places = ["--volume", `${name}:/var/lib/docker`, "--tmpfs", "/run"];
    const own = ["--hostname", "machine", "--name", name, ...rights];
    await docker(["run", "--detach", ...own, ...places, image]);
    const inspected = ["inspect", "--format", "{{.NetworkSettings.IPAddress}}", name];
    const address = (await docker(inspected)).trim();
    await until("systemd to run", () => isRunning(name), 120_000);
    const shell = openShell("docker", ["exec", "--interactive", "--workdir", "/root", "--env", "HOME=/root", name]);
    await shell.run(namesOf(names, address));
    return {
      address,
      shell,
      copy: async (file, folder) => void (await docker(["cp", file, `${name}:${folder}`])),
      load: (from, to) => loadImage(name, from, to),
      async remove() {
        shell.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A target of the Dockerfile beside this file; `release` is the image that some are made of. Returns its name. */
export async function buildMachineImage(target: string, release = "scratch"): Promise<string> {
  const image = `berth-prove/${target}`;
  const env = { DOCKER_BUILDKIT: "0" };
  const words = ["--target", target, "--build-arg", `RELEASE=${release}`, "--tag", image];
  await docker(["build", ...words, import.meta.dirname], { env });
  return image;
}

async function isRunning(name: string): Promise<boolean> {
  const ask = ["exec", name, "sh", "-c", "systemctl is-system-running || true"];
  const state = await docker(ask).catch(() => "");
  return /^(running|degraded)$/.test(state.trim());
}

/** What DNS would do. Containers ask the machine's resolver too, so it listens on its address. */
function namesOf(names: readonly string[], address: string): string {
  const zones = names.map((each) => `--address=/${each}/${address}`).join(" ");
  return `
upstream=$(awk '$1 == "nameserver" { print $2; exit }' /etc/resolv.conf)
systemd-run --quiet --unit names dnsmasq --keep-in-foreground --no-resolv --server="$upstream" \\
  --listen-address=${address} --bind-interfaces ${zones}
echo "nameserver ${address}" > /etc/resolv.conf`;
}

async function loadImage(machine: string, image: string, name: string): Promise<void> {
  const script = 'docker save "$1" | docker exec --interactive "$0" docker load --quiet';
  const child = spawn("sh", ["-c", script, machine, image], { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${image} could not be loaded`);
  await docker(["exec", machine, "docker", "tag", image, name]);
}
