import type { Catalogue } from "./catalogue.ts";
import type { Prices } from "./prices.ts";

/** What an order names, by its fields on the wire. Absent ones are not asked about. */
export interface Wanted {
  readonly container_type?: string;
  readonly gpu_count?: number;
  readonly duration?: number;
  readonly currency?: string;
}

/** The first field whose value is not sold; undefined: all are. */
export function notOffered({ types }: Catalogue, prices: Prices, wanted: Wanted): keyof Wanted | undefined {
  const sold = {
    container_type: types.map(({ id }) => id),
    gpu_count: prices.rows.map(({ gpus }) => gpus),
    duration: prices.hours,
    currency: prices.currencies.map(({ code }) => code),
  } as const satisfies Record<keyof Wanted, readonly (string | number)[]>;
  const fields = Object.keys(sold) as (keyof Wanted)[];
  return fields.find((field) => {
    const values: readonly (string | number)[] = sold[field];
    const value = wanted[field];
    return value !== undefined && !values.includes(value);
  });
}
