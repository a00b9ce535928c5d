import type { RefundChoices, RefundShare } from "@berth/contract/console/orders";
import { TextInput } from "@mantine/core";
import { money } from "../../format.ts";
import { type Choice, ChoiceCards } from "../frame/choice-cards.tsx";
import { minorOf } from "./minor-of.ts";

interface Props {
  readonly choices: RefundChoices;
  readonly share: RefundShare;
  readonly onShare: (share: RefundShare) => void;
  /** As typed. */
  readonly amount: string;
  readonly onAmount: (amount: string) => void;
}

/** What can go back, each with its amount and with what becomes of the environment. */
export function RefundShares({ choices, share, onShare, amount, onAmount }: Props) {
  const { currency, full } = choices;
  const most = money(full.minor, currency);
  const minor = minorOf(amount);
  const isWrong = amount.trim() !== "" && (minor === undefined || minor < 1 || minor > full.minor);
  return (
    <>
      <ChoiceCards label="What goes back" choices={choicesOf(choices)} value={share} onChange={onShare} />
      {share === "amount" && (
        <TextInput
          label={`Amount in ${currency}`}
          description={`At most ${most}`}
          inputMode="decimal"
          autoComplete="off"
          value={amount}
          onChange={(event) => onAmount(event.currentTarget.value)}
          error={isWrong && `An amount between ${money(1, currency)} and ${most}`}
        />
      )}
    </>
  );
}

function choicesOf({ currency, full, prorated, ...time }: RefundChoices): readonly Choice<RefundShare>[] {
  const hours = (seconds: number) => (seconds / 3600).toFixed(2);
  const used = `${hours(time.used_seconds)} of ${hours(time.total_seconds)} hours are used${time.runs ? ", and the clock runs" : ""}.`;
  return [
    ...(prorated
      ? [
          {
            value: "prorated" as const,
            title: `Unused time: ${money(prorated.minor, currency)}`,
            lines: [used, ...shown(prorated.consequences)],
          },
        ]
      : []),
    {
      value: "full",
      title: `All that is left: ${money(full.minor, currency)}`,
      lines: [...(prorated ? [] : [used]), ...shown(full.consequences)],
    },
    { value: "amount", title: "Another amount", lines: ["The environment is left as it is."] },
  ];
}

/** Lines of other orders only where there are some; the last one says what becomes of the environment. */
function shown(consequences: readonly string[]): readonly string[] {
  return consequences.length > 2 ? consequences : consequences.slice(-1);
}
