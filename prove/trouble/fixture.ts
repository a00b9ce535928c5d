import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "../../server/src/database/connection.ts";
import { startEmbedded } from "../../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import { faultyMailServer } from "../../server/src/system-tests/testing/faulty-mail-server.ts";
import { faultyProvider, keys } from "../../server/src/system-tests/testing/faulty-provider.ts";
import { serveCertificates } from "../../server/src/system-tests/testing/serve-certificates.ts";
import { shiftedClock } from "../../server/src/system-tests/testing/shifted-clock.ts";
import { smallDisk } from "../../server/src/system-tests/testing/small-disk.ts";
import { stoppableCluster } from "../../server/src/system-tests/testing/stoppable-cluster.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { removeFolder, temporaryFolder, toolsDir } from "../../testing/product.ts";
import { openRemoteHost, whyNoHost } from "./remote-host.ts";

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** Everything around the product that can fail, all of it real, and the product's settings. */
export async function openFixture(stack: AsyncDisposableStack) {
  const defer = stack.defer.bind(stack);
  const [dataDir, folder] = [temporaryFolder(), temporaryFolder()];
  for (const each of [dataDir, folder]) defer(() => removeFolder(each));
  const cluster = await stoppableCluster(defer);
  const disk = smallDisk(dataDir, defer);
  const clock = shiftedClock(join(folder, "clock"));
  const provider = await faultyProvider(await otherDatabase(join(folder, "provider"), stack), defer);
  const mail = await faultyMailServer(defer);
  const certificates = await serveCertificates({ fine: 90, month: 20, week: 5, day: 1 }, defer);
  const noHost = await whyNoHost();
  const host = noHost === undefined ? await openRemoteHost(stack) : undefined;
  const backups = join(folder, "backups");
  mkdirSync(backups);
  const port = await freePort();
  const env = {
    ...{ DATA_DIR: dataDir, DATABASE_URL: cluster.url, RUNTIMES_DIR: toolsDir, NODE_OPTIONS: clock.NODE_OPTIONS },
    ...{ PORT: String(port), OPERATOR_PORT: String(await freePort()), METRICS_PORT: "0", APP_URL: certificates.url },
    ...{ RUNTIME: "fake", FAKE_DRIVER: "gpus=8,startMs=50", BACKUP: `${backups} every 1h keep 3` },
    ...{ SMTP_URL: mail.url, MAIL_FROM: "hello@berth.example", CONTACT_EMAIL: "hello@berth.example" },
    ...{ RAZORPAY_KEY_ID: keys.keyId, RAZORPAY_KEY_SECRET: keys.keySecret, RAZORPAY_URL: provider.url },
  };
  return {
    ...{ dataDir, cluster, disk, clock, provider, mail, certificates, noHost, host, backups, env },
    url: `http://127.0.0.1:${port}`,
    log: join(folder, "log"),
  };
}

/** The provider's own, which does not fail with the product's. */
async function otherDatabase(directory: string, stack: AsyncDisposableStack): Promise<Connection> {
  const embedded = await startEmbedded({ directory, fsync: false, log: silentLogger });
  stack.defer(() => embedded.stop());
  return embedded.connection;
}
