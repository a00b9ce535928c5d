import { setTimeout as sleep } from "node:timers/promises";
import { checkoutRecord, currentImage } from "../../server/src/drivers/docker/images/image-catalogue.ts";
import { loadImage } from "../../server/src/drivers/testing/copy-image.ts";
import { docker } from "../../server/src/drivers/testing/docker-machine.ts";
import { openOtherMachine, whyNoRemote } from "../../server/src/drivers/testing/other-machine.ts";

const image = "berth/jupyter:local";

/** Why there is no second Docker Engine here; undefined where there is one. */
export async function whyNoHost(): Promise<string | undefined> {
  const absent = await whyNoRemote();
  if (absent !== undefined) return absent;
  const { Id } = await docker.getImage(image).inspect();
  return Id === (await currentImage("jupyter", checkoutRecord))
    ? undefined
    : "the catalogue has another image: npm run images -- jupyter";
}

/** A Docker Engine behind TLS at a private address of its own; `start` and `kill` are those of the engine. */
export async function openRemoteHost(stack: AsyncDisposableStack) {
  const machine = await openOtherMachine({ days: 90 });
  stack.defer(machine.close);
  return {
    url: machine.url,
    /** This machine's address as that one sees it. */
    gateway: machine.address.replace(/2$/, "1"),
    homeRoot: machine.homeRoot,
    engine: machine.engine,
    keysOf: machine.keysOf,
    asRoot: machine.asRoot,
    /** As `docker image rm` there; a helper container of this moment may hold it. */
    async removeImage(): Promise<void> {
      for (let tries = 0; ; tries++) {
        try {
          return void (await machine.docker.getImage(image).remove({ force: true }));
        } catch (error) {
          if (tries === 50) throw error;
          await sleep(200);
        }
      }
    },
    /** As `docker save` here and `docker load` there. */
    loadImage: () => loadImage(machine.docker),
  };
}

export type TroubleHost = Awaited<ReturnType<typeof openRemoteHost>>;
