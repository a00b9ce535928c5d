import { expect, test } from "vitest";
import { explainClusterError, refusalOf } from "./cluster-errors.ts";

const server = "https://cluster.example:6443";
const sentence = (error: Error) => {
  const { code, message } = explainClusterError(error, server) as { code: string; message: string };
  return `${code}: ${message}`;
};
const status = (code: number, message: string) => refusalOf(code, JSON.stringify({ kind: "Status", message }));

test.each([
  [
    status(403, 'pods is forbidden: User "driver" cannot create resource "pods" in API group "" in the namespace "x"'),
    "unavailable: The kubeconfig's user may not create pods: give it this right",
  ],
  [
    status(403, 'pods "env-1" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1'),
    'unavailable: The namespace has no room left: pods "env-1" is forbidden: exceeded quota',
  ],
  [
    status(403, 'pods "env-1" is forbidden: violates PodSecurity "x"'),
    "refused: The namespace does not admit such pods",
  ],
  [status(401, "Unauthorized"), `unavailable: The Kubernetes API server at ${server} does not accept`],
  [status(422, "Pod is invalid"), "refused: Kubernetes refused: Pod is invalid"],
  [refusalOf(503, "upstream is away\n"), "unavailable: Kubernetes refused: upstream is away"],
  [refusalOf(500, ""), "unavailable: Kubernetes refused: HTTP status 500"],
  [
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
    `unavailable: No Kubernetes API server answers at ${server}`,
  ],
  [
    Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
    `unavailable: The connection to the Kubernetes API server at ${server} broke`,
  ],
])("%s", (error, expected) => {
  expect(sentence(error)).toContain(expected);
});

test("other errors stay as they are", () => {
  const abort = new DOMException("enough", "AbortError");
  expect(explainClusterError(abort, server)).toBe(abort);
});
