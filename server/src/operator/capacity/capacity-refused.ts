/** Refusal of an operator's command about hosts and GPUs; the message gives the reason. */
export class CapacityRefused extends Error {
  override name = "CapacityRefused";
}
