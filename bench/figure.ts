import { moreIsBetter, type Unit } from "../scripts/pages/ledger.ts";
import { median, quantile } from "./quantiles.ts";

/** What a bench found. `peer` has a sample for each of `samples`, taken beside it: in the same minute, one after the other. */
export interface Figure {
  /** Its name in the ledger. */
  readonly name: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  readonly peer?: readonly number[];
  /** What the peer is. */
  readonly beside?: string;
}

/** Samples of both, one after the other. */
export async function inPairs(
  pairs: number,
  ours: (n: number) => Promise<number>,
  theirs: (n: number) => Promise<number>,
): Promise<{ readonly samples: readonly number[]; readonly peer: readonly number[] }> {
  const [samples, peer]: [number[], number[]] = [[], []];
  for (let n = 0; n < pairs; n++) {
    samples.push(await ours(n));
    peer.push(await theirs(n));
  }
  return { samples, peer };
}

/** Milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A median, and the bounds of its spread. */
export interface Median {
  readonly mid: number;
  readonly low: number;
  readonly high: number;
}

/** The median of the ratios of pairs, which a machine that is slow for a minute changes least; undefined without a peer. */
export function ratioOf({ name, samples, peer }: Figure): Median | undefined {
  if (!peer) return undefined;
  if (peer.length !== samples.length) throw new Error(`${name}: ${samples.length} samples, ${peer.length} of its peer`);
  return spreadOf(samples.map((sample, at) => sample / (peer[at] ?? Number.NaN)));
}

/** Undefined for fewer than 20 samples. */
export function p95Of({ samples, unit }: Figure): number | undefined {
  return samples.length < 20 ? undefined : quantile(samples, moreIsBetter(unit) ? 0.05 : 0.95);
}

/**
 * The interval between two order statistics that holds the true median in at least 95 of 100 runs, whatever the distribution
 * is (sign test); of fewer than six samples, which have no such interval, from the least to the greatest.
 */
export function spreadOf(samples: readonly number[]): Median {
  const sorted = samples.toSorted((a, b) => a - b);
  const n = sorted.length;
  if (n === 0 || sorted.some(Number.isNaN)) throw new Error(`no median of ${JSON.stringify(samples)}`);
  // The quantile of the binomial distribution, by the normal one with its correction.
  const outside = Math.max(0, Math.floor((n - 1 - 1.96 * Math.sqrt(n)) / 2));
  return { mid: median(sorted), low: sorted[outside] ?? Number.NaN, high: sorted[n - 1 - outside] ?? Number.NaN };
}
