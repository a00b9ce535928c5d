import { type Installed, installByPage } from "./machine/install-by-page.ts";
import { release } from "./machine/release.ts";
import { buildMachineImage } from "./machine/start-machine.ts";
import { writeProof } from "./proof-page.ts";

/** From a bare machine to the first notebook. */
const mostSeconds = 300;

/**
 * docs/operate/install.md alone, in a fresh Debian: its commands for the service as they stand, timed, then a notebook that
 * was paid with a test card. Needs a Docker Engine. With `quick` the release is the one that lies in `dist/`.
 */
export async function proveInstall({ quick }: { quick: boolean }): Promise<void> {
  const { archive } = await release({ withImage: false, isMade: quick });
  const { seconds, isRented } = await installByPage({
    section: "As a service",
    async prepare(machine) {
      for (const file of [archive, `${archive}.sha256`]) await machine.copy(file, "/root");
    },
  });
  const text = `a fresh Debian 12 with systemd; the commands of docs/operate/install.md, as they stand, took ${seconds.toFixed(0)} s; then the first rental in a browser, through TLS and wildcard names: ${isRented ? "passed" : "failed"}.`;
  console.log(text);
  if (!isRented || seconds > mostSeconds) process.exitCode = 1;
  else writeProof("install", `\`npm run prove -- install\`: ${text}`);
}

/** The same with compose.yaml, and images in the place of those of a registry. */
export async function installByCompose(): Promise<Installed> {
  const { image } = await release({ withImage: true });
  const database = await buildMachineImage("postgres", image);
  const edge = await buildMachineImage("edge");
  return await installByPage({
    section: "With Docker Compose",
    async prepare(machine) {
      await machine.load(image, image);
      await machine.load(database, "postgres:18");
      await machine.load(edge, "caddy:2");
    },
  });
}
