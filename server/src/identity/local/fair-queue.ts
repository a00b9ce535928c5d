import { addressKey } from "../../http/limit-requests.ts";

/** The client that work is queued for. `familiar`: known by its network, a token or a code. */
export interface Sender {
  readonly network: string;
  readonly familiar: boolean;
}

/** A client that has authenticated by password, token or code already. */
export function familiarSender(from = ""): Sender {
  return { network: addressKey(from), familiar: true };
}

interface Task {
  readonly start: () => void;
  readonly refuse: () => void;
}

interface Limits {
  readonly concurrency: number;
  /** In each of the two queues. */
  readonly maxQueued: number;
}

/**
 * Limits concurrency with two queues, so that unknown clients cannot starve familiar ones: one slot prefers familiar
 * clients, the others unknown ones (P12). Within a queue, networks are served round-robin. A full queue rejects the newest
 * task of the network with the most tasks with `refusal()`; that can be the incoming one.
 */
export function createFairQueue({ concurrency, maxQueued }: Limits, refusal: () => Error) {
  const queues = { familiar: createQueue(maxQueued), unknown: createQueue(maxQueued) };
  const running = { familiar: 0, unknown: 0 };

  function startNext(): void {
    while (running.familiar + running.unknown < concurrency) {
      const preferred = running.familiar === 0 ? "familiar" : "unknown";
      const other = preferred === "familiar" ? "unknown" : "familiar";
      const name = queues[preferred].size() > 0 ? preferred : other;
      if (queues[name].size() === 0) return;
      running[name]++;
      queues[name].shift()?.start();
    }
  }

  return async <T>({ network, familiar }: Sender, work: () => Promise<T>): Promise<T> => {
    const name = familiar ? "familiar" : "unknown";
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queues[name].push(network, { start: resolve, refuse: () => reject(refusal()) });
    startNext();
    await promise;
    try {
      return await work();
    } finally {
      running[name]--;
      startNext();
    }
  };
}

/** First in, first out for each network; round-robin between networks. */
function createQueue(maxSize: number) {
  const networks = new Map<string, Task[]>();
  const size = () => [...networks.values()].reduce((sum, tasks) => sum + tasks.length, 0);

  /** The network with the most tasks; on a tie the newcomer's. */
  function largest(newcomer: string): string {
    const lengthOf = (network: string) => networks.get(network)?.length ?? 0;
    return [...networks.keys()].reduce((most, each) => (lengthOf(each) > lengthOf(most) ? each : most), newcomer);
  }

  return {
    size,
    push(network: string, task: Task): void {
      networks.set(network, [...(networks.get(network) ?? []), task]);
      if (size() <= maxSize) return;
      const crowded = largest(network);
      const tasks = networks.get(crowded) ?? [];
      tasks.pop()?.refuse();
      if (tasks.length === 0) networks.delete(crowded);
    },
    shift(): Task | undefined {
      const [first] = networks;
      if (!first) return undefined;
      const [network, [next, ...rest]] = first;
      networks.delete(network);
      if (rest.length > 0) networks.set(network, rest);
      return next;
    },
  };
}
