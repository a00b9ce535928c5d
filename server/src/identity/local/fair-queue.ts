import { addressKey } from "../../http/limit-requests.ts";

/** Whose work waits: where it comes from, and whether its sender is known there (a familiar network, a token, a code). */
export interface Sender {
  readonly network: string;
  readonly familiar: boolean;
}

/** Of somebody who has shown a password, a token or a code already. */
export function familiarSender(from = ""): Sender {
  return { network: addressKey(from), familiar: true };
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

interface Limits {
  readonly atOnce: number;
  /** In each of the two lines. */
  readonly waiting: number;
}

/**
 * Lets `atOnce` works run; the others wait in two lines, so that strangers never keep out whom an account knows: one
 * place serves the familiar line first, the others the strangers' (P12). Within a line networks take turns.
 * A line that is full refuses with `refusal()`, because a longer one would only make every answer late: the newest of the
 * network with the most waiting, which may be the one that comes.
 */
export function openFairQueue({ atOnce, waiting }: Limits, refusal: () => Error) {
  const lines = { familiar: createLine(waiting), unknown: createLine(waiting) };
  const running = { familiar: 0, unknown: 0 };

  function fill(): void {
    while (running.familiar + running.unknown < atOnce) {
      const first = running.familiar === 0 ? "familiar" : "unknown";
      const name = lines[first].size() > 0 ? first : first === "familiar" ? "unknown" : "familiar";
      if (lines[name].size() === 0) return;
      running[name]++;
      lines[name].shift()?.begin();
    }
  }

  return async <T>({ network, familiar }: Sender, work: () => Promise<T>): Promise<T> => {
    const name = familiar ? "familiar" : "unknown";
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    lines[name].push(network, { begin: resolve, refuse: () => reject(refusal()) });
    fill();
    await promise;
    try {
      return await work();
    } finally {
      running[name]--;
      fill();
    }
  };
}

/** One line: each network's works in order, networks in turn. */
function createLine(most: number) {
  const networks = new Map<string, Waiting[]>();
  const size = () => [...networks.values()].reduce((sum, works) => sum + works.length, 0);

  /** Of several equally long ones the newcomer's gives way: who waits already came first. */
  function mostCrowded(newcomer: string): string {
    const lengthOf = (network: string) => networks.get(network)?.length ?? 0;
    return [...networks.keys()].reduce(
      (longest, each) => (lengthOf(each) > lengthOf(longest) ? each : longest),
      newcomer,
    );
  }

  return {
    size,
    push(network: string, waiting: Waiting): void {
      networks.set(network, [...(networks.get(network) ?? []), waiting]);
      if (size() <= most) return;
      const crowd = mostCrowded(network);
      const works = networks.get(crowd) ?? [];
      works.pop()?.refuse();
      if (works.length === 0) networks.delete(crowd);
    },
    shift(): Waiting | undefined {
      const [first] = networks;
      if (!first) return undefined;
      const [network, [next, ...rest]] = first;
      networks.delete(network);
      if (rest.length > 0) networks.set(network, rest);
      return next;
    },
  };
}
