import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { environment } from "../../testing/environment.ts";

/** The names in the files of `deploy/` and in the operator's pages. */
export const [app, envHost] = ["berth.example", "berth-run.example"];
const playwright = join(import.meta.dirname, "../../node_modules/.bin/playwright");

interface Deployed {
  readonly url: string;
  /** Where both names lead. */
  readonly address: string;
  /** Of environments. */
  readonly host?: string;
  /** The certificate that is served, in PEM; undefined without TLS. */
  readonly certificate?: string;
  /** Its driver, where the test expects something else of it. */
  readonly runtime?: "kubernetes";
  /** Words before the command of the test. */
  readonly launcher?: readonly string[];
}

/** Whether the first rental of the browser tests passes at an installation that runs behind its proxy. */
export async function rentDeployed(deployed: Deployed): Promise<boolean> {
  const { url, address, host = envHost, certificate, runtime, launcher = [] } = deployed;
  const [program = "", ...words] = [...launcher, playwright];
  const test = ["test", "--config", "e2e/playwright.config.ts", "e2e/first-rental.spec.ts"];
  const shell = { ...environment.shell, CHROMIUM: environment.chromium, ...(runtime && { RUNTIME: runtime }) };
  const place = { DEPLOYED_URL: url, DEPLOYED_ENV_HOST: host, DEPLOYED_ADDRESS: address };
  const env = { ...shell, ...place, ...(certificate && { DEPLOYED_KEY: publicKeyHash(certificate) }) };
  const run = spawn(program, [...words, ...test], { stdio: "inherit", env, cwd: join(import.meta.dirname, "../..") });
  const [code] = await once(run, "exit");
  return code === 0;
}

/** As Chromium compares it: the authority of the test is not one that it trusts. */
function publicKeyHash(certificate: string): string {
  const hash = "openssl x509 -pubkey -noout | openssl pkey -pubin -outform der";
  const command = `${hash} | openssl dgst -sha256 -binary | base64`;
  return execFileSync("sh", ["-c", command], { input: certificate, encoding: "utf8" }).trim();
}

/** A test that ran long says how long. */
export async function timed<T>(work: () => Promise<T>): Promise<readonly [result: T, seconds: number]> {
  const began = performance.now();
  const result = await work();
  return [result, (performance.now() - began) / 1000];
}
