import type { WaitReason } from "@berth/contract";
import { DriverError } from "../../driver.ts";

/** The API server refused a call. */
export class ClusterRefusal extends Error {
  readonly status: number;
  /** The server's word for it, such as `AlreadyExists`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = "ClusterRefusal";
    this.status = status;
    this.reason = reason;
  }
}

/** The refusal in a reply's body, which is a `Status` object or, from a proxy in front of the cluster, any text. */
export function refusalOf(status: number, body: string): ClusterRefusal {
  const { reason = "", message = body.trim().slice(0, 500) } = parsed(body);
  return new ClusterRefusal(status, reason, message || `HTTP status ${status}`);
}

function parsed(body: string): { readonly reason?: string; readonly message?: string } {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

/** For idempotent calls: undefined when the object is absent, or for these other `statuses`. */
export async function orAbsent<T>(call: Promise<T>, ...statuses: readonly number[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ClusterRefusal && [404, ...statuses].includes(error.status)) return undefined;
    throw error;
  }
}

export const isConflict = (error: unknown) => error instanceof ClusterRefusal && error.status === 409;

/** The same error as a DriverError in a sentence for people, where it is the cluster's; else as it is. */
export function explainClusterError(error: unknown, server: string): unknown {
  if (!(error instanceof Error) || error instanceof DriverError) return error;
  const explained = (code: DriverError["code"], message: string, waitsFor?: WaitReason) =>
    new DriverError(code, message, { cause: error, waitsFor });
  if (error instanceof ClusterRefusal) return explained(...refusalSentence(error, server));
  // The code of an abort is a number, and an abort belongs to the caller.
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== "string") return error;
  if (code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EHOSTUNREACH")
    return explained("unavailable", `No Kubernetes API server answers at ${server}: ${error.message}`);
  return explained("unavailable", `The connection to the Kubernetes API server at ${server} broke: ${error.message}`);
}

/** What an operator can mend is `unavailable`, so that it is tried again; only a malformed object is `refused`. */
function refusalSentence(
  { status, message }: ClusterRefusal,
  server: string,
): [DriverError["code"], string, WaitReason?] {
  if (status === 401)
    return ["unavailable", `The Kubernetes API server at ${server} does not accept the kubeconfig's user`];
  const right = message.match(/cannot (\w+) resource "([^"]+)"/);
  if (status === 403 && right)
    return ["unavailable", `The kubeconfig's user may not ${right[1]} ${right[2]}: give it this right (${message})`];
  if (status === 403 && /exceeded quota/.test(message))
    return ["unavailable", `The namespace has no room left: ${message}`, "room"];
  if (status === 403 && /violates PodSecurity/.test(message))
    return ["refused", `The namespace does not admit such pods: ${message}`];
  const isPassing = status >= 500 || status === 429 || status === 409;
  return [isPassing ? "unavailable" : "refused", `Kubernetes refused: ${message}`];
}
