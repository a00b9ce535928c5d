import { ConfigError } from "../../config/config.ts";
import { consoleUrl } from "../accounts/console-url.ts";
import { diagnose } from "../doctor/diagnose.ts";
import { backgroundDiagnosis } from "./background-diagnosis.ts";
import { buildConsole } from "./build-console.ts";
import type { ConsoleDeps } from "./console-deps.ts";

type StartDeps = Omit<ConsoleDeps, "url" | "diagnosis" | "needsSecondFactor">;

/** Starts the console on OPERATOR_PORT; undefined without one. `close` ends it. Throws ConfigError for a port that is taken. */
export async function startConsole(
  deps: StartDeps,
): Promise<{ readonly url: string; readonly close: () => Promise<void> } | undefined> {
  const { config, db, log } = deps;
  if (!config.console) return undefined;
  const { host, port, needsSecondFactor } = config.console;
  const url = consoleUrl(config.console);
  const diagnosis = backgroundDiagnosis(() => diagnose(db, config), log);
  const app = await buildConsole({ ...deps, needsSecondFactor, url, diagnosis });
  await app.listen({ port, host }).catch((error) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new ConfigError(`Port ${port} is taken by another program. Stop it, or set OPERATOR_PORT to another port.`);
  });
  return {
    url: `${url}/operator`,
    async close() {
      await app.close();
      await diagnosis.settled();
    },
  };
}
