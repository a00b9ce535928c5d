/** Why a port inside gives no answer: nothing listens there, or the run is older than ports are. */
export type PortFault = "not_listening" | "no_ports";

/** An environment sent no response, or a malformed one. The message is for our log only. */
export class UpstreamError extends Error {
  readonly fault: PortFault | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly fault?: PortFault | undefined }) {
    super(message, options);
    this.name = "UpstreamError";
    this.fault = options?.fault;
  }
}
