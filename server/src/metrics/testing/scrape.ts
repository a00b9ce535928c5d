/** The samples of one scrape by their series, such as `berth_gpus{host="a",state="free"}`: labels in the order of the text. */
export type Samples = ReadonlyMap<string, number>;

/** Reads `/metrics` as Prometheus does. @throws unless the status is 200 and each line is well formed */
export async function scrape(url: string): Promise<Samples> {
  const reply = await fetch(`${url}/metrics`);
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`/metrics answered ${reply.status}: ${text}`);
  return samplesOf(text);
}

export function samplesOf(text: string): Samples {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, series, value] = /^([a-z_][a-z0-9_]*(?:\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$/i.exec(line) ?? [];
      if (series === undefined) throw new Error(`not a sample: ${line}`);
      return [series, Number(value?.replace("+Inf", "Infinity"))] as const;
    }),
  );
}
