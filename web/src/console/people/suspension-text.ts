import { plural } from "@berth/contract";
import type { Amount, Person } from "@berth/contract/console/people";
import { money } from "../../format.ts";

interface How {
  /** Without the warnings before. */
  readonly now: boolean;
  /** Warnings that come before a suspension. */
  readonly before: number;
  readonly refund: boolean;
}

/** What a suspension does, for the dialog; the figures are those of the moment in which the account was read. */
export function suspensionText({ suspended, warnings, if_suspended }: Person, { now, before, refund }: How): string {
  const { stopping, ending, launches, launch_amounts, unpaid_orders, unused_amounts } = if_suspended;
  const sentences = [
    !suspended && now
      ? `It has ${warnings.length} of ${plural(before, "warning")}: this is without the others, which the terms allow only for what ends at once, such as crypto mining.`
      : "",
    suspended ? "" : "Every sign-in ends, and shared links are revoked.",
    refund
      ? `${verb(ending, "environment", "ends", "end")} for good, and about ${amountsText(unused_amounts)} for unused time goes back.`
      : `${verb(stopping, "environment", "stops", "stop")}; files and unused time are kept.`,
    launches > 0
      ? `${plural(launches, "launch that was never ready ends", "launches that were never ready end")}, and ${amountsText(launch_amounts)} goes back.`
      : "",
    unpaid_orders > 0 ? `${verb(unpaid_orders, "unpaid order", "is", "are")} cancelled.` : "",
  ];
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

const verb = (count: number, noun: string, one: string, many: string) =>
  `${count === 0 ? `No ${noun}` : plural(count, noun)} ${count <= 1 ? one : many}`;

function amountsText(amounts: readonly Amount[]): string {
  return amounts.map(({ currency, minor }) => money(minor, currency)).join(" and ") || "nothing";
}
