import type { WaitReason } from "@berth/contract";
import { DriverError, type DriverErrorCode, type Waiting } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";

type Waits = Pick<Environment, "waits_for" | "last_error">;
type Update = { readonly waiting?: Waiting };

const messageOf = ({ message }: Waiting) => message.slice(0, 500);

/** What a pass writes about a start that waits (G198). A launch that ends keeps the reason. */
export function waitColumns({ desired }: Pick<Environment, "desired">, { waiting }: Update): Partial<Waits> {
  return {
    last_error: waiting ? messageOf(waiting) : null,
    ...(desired !== "terminated" && { waits_for: waiting?.for ?? null }),
  };
}

export function isSameWait({ waits_for, last_error }: Waits, { waiting }: Update): boolean {
  return waits_for === (waiting?.for ?? null) && (!waiting || last_error === messageOf(waiting));
}

/** A refusal is no wait: the next attempt is another run. */
const waits: Partial<Record<DriverErrorCode, WaitReason>> = {
  unavailable: "host",
  lost: "host",
  no_image: "image",
  no_gpu: "room",
};

/** What a start waits for after a failure of its driver; nothing for what is no start. */
export function waitAfter(error: unknown, isStarting: boolean): Partial<Waits> {
  if (!isStarting) return {};
  const waits_for = error instanceof DriverError ? (error.waitsFor ?? waits[error.code]) : undefined;
  return waits_for ? { waits_for } : {};
}
