import { hoursPerMonth } from "@berth/contract";
import { prices } from "../catalogue.ts";
import { listed, rateText } from "../format.ts";
import { capitalised, numberWord } from "./number-word.ts";

/** " INR is the USD price times 88.22, rounded to whole rupees." */
export function conversions(): string {
  return prices()
    .currencies.slice(1)
    .map(({ code, ratePerDollar, roundMinor }) => {
      const step = roundMinor === 100 ? `whole ${unitsOf(code)}` : `a multiple of ${roundMinor / 100}`;
      const rounded = roundMinor === 1 ? "two decimals" : step;
      return ` ${code} is the USD price times ${ratePerDollar / 100}, rounded to ${rounded}.`;
    })
    .join("");
}

/** "USD, or INR at ₹88.22 for a dollar." */
export function currencyChoice(): string {
  const [list, ...others] = prices().currencies;
  const converted = others.map(
    ({ code, ratePerDollar }) => `${code} at ${rateText(ratePerDollar / 100, code)} for a dollar`,
  );
  return `${[list?.code, ...(converted.length > 0 ? [`or ${listed(converted, "disjunction")}`] : [])].join(", ")}.`;
}

/** "One to eight GPUs. An hour to a month." */
export function choiceRange(): string {
  const { rows, hours } = prices();
  const counts = rows.map(({ gpus }) => gpus);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const gpus =
    least === most
      ? `${numberWord(least)} GPU${least === 1 ? "" : "s"}`
      : `${numberWord(least)} to ${numberWord(most)} GPUs`;
  const [short, long] = [timeWord(Math.min(...hours)), timeWord(Math.max(...hours))];
  return `${capitalised(gpus)}. ${capitalised(short === long ? short : `${short} to ${long}`)}.`;
}

function timeWord(hours: number): string {
  if (hours === hoursPerMonth) return "a month";
  if (hours === 168) return "a week";
  return hours === 1 ? "an hour" : `${hours} hours`;
}

/** "rupees", by Unicode's tables. */
function unitsOf(code: string): string {
  const text = new Intl.NumberFormat("en-US", { style: "currency", currency: code, currencyDisplay: "name" }).format(2);
  return text.split(" ").at(-1) ?? code;
}
