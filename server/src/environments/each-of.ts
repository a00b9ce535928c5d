/** Looks at once, for each host. */
const width = 8;

/** They share one iterator: each takes the next as soon as it is free. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const take = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: width }, take));
}
