// A fake machine with so many GPUs that several workers share. Prints its port; each line of stdin names a run that crashes.
import { createInterface } from "node:readline";
import { fakeDriver } from "../../server/src/drivers/fake/fake-driver.ts";
import { serveFakeEngine } from "../../server/src/drivers/fake/serve-fake-engine.ts";

const driver = fakeDriver({ gpus: Number(process.argv[2]), startMs: 50 });
const engine = await serveFakeEngine(driver);
console.log(engine.port);
createInterface({ input: process.stdin }).on("line", (id) => void driver.crash(id));

process.on("SIGTERM", async () => {
  await engine.close();
  await driver.close();
  process.exit(0);
});
