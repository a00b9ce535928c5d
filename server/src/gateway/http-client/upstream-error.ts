/** Why a port or SSH inside gives no answer: nothing listens there, no SSH server is installed, or the run is older than both. */
export type Fault = "not_listening" | "not_installed" | "too_old";

/** An environment sent no response, or a malformed one. The message is for our log only. */
export class UpstreamError extends Error {
  readonly fault: Fault | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly fault?: Fault | undefined }) {
    super(message, options);
    this.name = "UpstreamError";
    this.fault = options?.fault;
  }
}
