import { signUp } from "../testing/customer.ts";
import type { Figure } from "./figure.ts";
import { launchOnce, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { bareStart } from "./peers/bare-jupyterlab.ts";
import { openProduct } from "./processes.ts";

const launches = 20;

/**
 * From paid to ready through the gateway, for new names (cold) and for names with kept files (reopened), beside the same
 * JupyterLab started by hand and polled the same way. Prints the stages too.
 */
export async function measure(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack);
  const customer = await signUp(product.url);
  await prepared(product);
  const peer: number[] = [];
  const cold: Stamps[] = [];
  const reopened: Stamps[] = [];
  for (let n = 0; n < launches; n++) {
    cold.push(await launchOnce(product, customer, `bench-${n}`));
    peer.push(await bareStart(n));
    reopened.push(await launchOnce(product, customer, `bench-${n}`));
  }
  report("cold", cold);
  report("reopened", reopened);
  const beside = "JupyterLab by hand";
  return [
    { name: "launch, cold", unit: "ms", samples: readyOf(cold), peer, beside },
    { name: "launch, reopened", unit: "ms", samples: readyOf(reopened), peer, beside },
  ];
}
