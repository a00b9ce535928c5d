import { quote } from "@berth/contract";
import { prices } from "../catalogue.ts";
import { money } from "../format.ts";
import { numberWord } from "./number-word.ts";

/** "Start with one GPU for one hour. It costs $0.20." */
export function smallestOrder(): string {
  const sold = prices();
  const gpus = Math.min(...sold.rows.map((row) => row.gpus));
  const hours = Math.min(...sold.hours);
  const { amountMinor } = quote(sold, gpus, hours, "USD");
  return `Start with ${counted(gpus, "GPU")} for ${counted(hours, "hour")}. It costs ${money(amountMinor, "USD")}.`;
}

function counted(count: number, unit: string): string {
  return `${numberWord(count)} ${unit}${count === 1 ? "" : "s"}`;
}
