/** What an operator asked of hosts and GPUs cannot be done; the message says why. */
export class CapacityRefused extends Error {
  override name = "CapacityRefused";
}
