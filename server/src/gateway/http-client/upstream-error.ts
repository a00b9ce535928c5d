/** What an environment answered cannot be passed on, or it did not answer. The message is for our log only. */
export class UpstreamError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UpstreamError";
  }
}
