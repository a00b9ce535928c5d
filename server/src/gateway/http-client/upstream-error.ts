/** An environment's response cannot be passed on, or there is none. The message is for our log only. */
export class UpstreamError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UpstreamError";
  }
}
