import type { ReadNodes } from "../nodes/cluster-facts.ts";
import { ensurePolicies, type NetworkDeps } from "./ensure-policies.ts";
import { podNetworks } from "./pod-networks.ts";

interface PolicyKeeper {
  /** Applies the policies before a run, unless they are applied. */
  readonly ensure: (signal: AbortSignal) => Promise<void>;
  /** Applies them again where a node with a network of its own has joined since, as an autoscaler adds one for a pod that waits. */
  readonly renew: (signal: AbortSignal) => Promise<void>;
}

/** Closes the networks of pods that the nodes name (G354). Both may be called at any time; a failure is tried again. */
export function keepPolicies(deps: NetworkDeps & { readonly nodes: ReadNodes }): PolicyKeeper {
  let applied: string | undefined;
  const ensure = async (signal: AbortSignal) => {
    const closed = [...new Set([...deps.closed, ...podNetworks(await deps.nodes(signal))])];
    if (applied === closed.join()) return;
    await ensurePolicies({ ...deps, closed }, signal);
    applied = closed.join();
  };
  return {
    ensure,
    async renew(signal) {
      if (applied !== undefined) await ensure(signal);
    },
  };
}
