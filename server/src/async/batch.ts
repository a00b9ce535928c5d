/** Collects the calls of one moment: `work` gets all their inputs and returns the results in the same order. */
export function batch<In, Out>(work: (all: readonly In[]) => Promise<readonly Out[]>): (one: In) => Promise<Out> {
  let waiting: { readonly one: In; readonly answer: PromiseWithResolvers<Out> }[] = [];

  async function go(): Promise<void> {
    const all = waiting;
    waiting = [];
    try {
      const answers = await work(all.map(({ one }) => one));
      for (const [at, { answer }] of all.entries()) answer.resolve(answers[at] as Out);
    } catch (error) {
      for (const { answer } of all) answer.reject(error);
    }
  }

  return (one) => {
    const answer = Promise.withResolvers<Out>();
    if (waiting.push({ one, answer }) === 1) setImmediate(() => void go());
    return answer.promise;
  };
}
