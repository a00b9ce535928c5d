import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { testKubeconfig } from "../../server/src/drivers/testing/kubernetes-machine.ts";
import { environment } from "../../testing/environment.ts";

/** Runs a program of the cluster against the one of TEST_KUBECONFIG and returns its stdout. @throws what it printed */
async function inCluster(program: string, words: readonly string[], input = ""): Promise<string> {
  const env = { ...environment.shell, KUBECONFIG: testKubeconfig };
  const child = spawn(program, words, { env });
  child.stdin.on("error", () => {}).end(input);
  const [printed, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(`${program} ${words.slice(0, 4).join(" ")} ended with ${code}: ${said}`);
  return printed;
}

export interface Cluster {
  readonly namespace: string;
  kubectl(words: readonly string[], input?: string): Promise<string>;
  helm(words: readonly string[], input?: string): Promise<string>;
  /** Calls back with each line of a command that goes on until `stop`. */
  follow(words: readonly string[], onLine: (line: string) => void): { stop(): void };
}

/** Instead of the chart's own namespace. */
export const inEnvironments = ({ namespace }: Pick<Cluster, "namespace">) => [`--namespace=${namespace}-environments`];

export function clusterOf(namespace: string): Cluster {
  const here = ["--namespace", namespace];
  return {
    namespace,
    kubectl: (words, input) => inCluster("kubectl", [...here, ...words], input),
    helm: (words, input) => inCluster("helm", [...here, ...words], input),
    follow(words, onLine) {
      const env = { ...environment.shell, KUBECONFIG: testKubeconfig };
      const child = spawn("kubectl", [...here, ...words], { env, stdio: ["ignore", "pipe", "ignore"] });
      let rest = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) onLine(line);
      });
      return { stop: () => void child.kill("SIGTERM") };
    },
  };
}
