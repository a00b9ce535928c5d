const units: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 },
};

/** A quantity of Kubernetes such as `16323952Ki`, `250m` or `1e3` as a number; 0 for what is none. */
export function quantityOf(quantity: string | number | undefined): number {
  const [, count = "0", unit = ""] = String(quantity ?? "").match(/^(\d+(?:\.\d+)?(?:[eE]\d+)?)([a-zA-Z]*)$/) ?? [];
  return Number(count) * (units[unit] ?? 0);
}

/** How many times `wanted` fits into what there is; what is not named there has no limit. */
export function timesIn(wanted: Readonly<Record<string, string>>, there: (name: string) => number | undefined): number {
  const times = Object.entries(wanted).map(([name, each]) => {
    const quantity = there(name);
    return quantity === undefined ? Number.POSITIVE_INFINITY : Math.floor(quantity / quantityOf(each));
  });
  return Math.max(0, Math.min(...times));
}
