import { secondsLeft, unusedMinor } from "@berth/contract";
import { duration, money } from "../../format.ts";
import type { Detail } from "./environment.ts";

type Given = Pick<Detail, "expires_at" | "banked_seconds" | "booked">;

/** What is used of what was paid: "$0.05 of $0.40"; empty where nothing was paid. `now` in ms since the epoch. */
export function costSoFar(environment: Given, now: number): string {
  return sumsOf(environment, now)
    .map(({ paidMinor, unused, currency }) => `${money(paidMinor - unused, currency)} of ${money(paidMinor, currency)}`)
    .join(", ");
}

/**
 * What an end gives up, in time and money: "1h 47m, $0.35 of $0.40". The share is that of a refund
 * (docs/use/refunds.md). Undefined with no time left; without money where none was paid. `now` in ms since the epoch.
 */
export function givenUp(environment: Given, now: number): string | undefined {
  const seconds = secondsLeft(environment, now);
  if (!(seconds > 0)) return undefined;
  const sums = sumsOf(environment, now).map(
    ({ paidMinor, unused, currency }) => `${money(unused, currency)} of ${money(paidMinor, currency)}`,
  );
  return [duration(seconds), ...sums].join(", ");
}

function sumsOf(environment: Given, now: number) {
  const { booked } = environment;
  const left = { secondsLeft: secondsLeft(environment, now), bookedSeconds: (booked?.hours ?? 0) * 3600 };
  return (booked?.paid ?? []).map(({ currency, amount }) => {
    const paidMinor = Math.round(amount * 100);
    return { currency, paidMinor, unused: unusedMinor({ paidMinor, ...left }) };
  });
}
