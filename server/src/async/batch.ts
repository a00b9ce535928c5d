/**
 * Batches the calls of one turn of the event loop, or of `gatherMs` milliseconds: `work` gets all inputs and returns results in
 * the same order.
 */
export function batch<In, Out>(
  work: (all: readonly In[]) => Promise<readonly Out[]>,
  gatherMs = 0,
): (one: In) => Promise<Out> {
  let pending: { readonly input: In; readonly result: PromiseWithResolvers<Out> }[] = [];

  async function run(): Promise<void> {
    const all = pending;
    pending = [];
    try {
      const results = await work(all.map(({ input }) => input));
      for (const [index, { result }] of all.entries()) result.resolve(results[index] as Out);
    } catch (error) {
      for (const { result } of all) result.reject(error);
    }
  }

  return (input) => {
    const result = Promise.withResolvers<Out>();
    const start = () => void run();
    if (pending.push({ input, result }) === 1) gatherMs > 0 ? setTimeout(start, gatherMs) : setImmediate(start);
    return result.promise;
  };
}
