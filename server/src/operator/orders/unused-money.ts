import type { Db } from "../../database/database.ts";
import { calculateRefund } from "./calculate-refund.ts";

interface Sum {
  readonly currency: string;
  readonly minor: number;
}

interface Order {
  readonly id: string;
  readonly status: string;
}

/** Returns what the end of an environment with these orders would pay back now, by currency (G108). */
export async function unusedMoney(db: Db, orders: readonly Order[]): Promise<Sum[]> {
  const paid = orders.filter(({ status }) => status === "fulfilled");
  const sums = new Map<string, number>();
  for (const { currency, proratedMinor } of await Promise.all(paid.map(({ id }) => calculateRefund(db, id))))
    sums.set(currency, (sums.get(currency) ?? 0) + proratedMinor);
  return [...sums].flatMap(([currency, minor]) => (minor > 0 ? [{ currency, minor }] : []));
}
