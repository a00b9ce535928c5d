import type { Order } from "@berth/contract";
import { previewRefund, type RefundChoices, type RefundShare, refundOrder } from "@berth/contract/console/orders";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { money } from "../../format.ts";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import { NotRead } from "../frame/not-read.tsx";
import { minorOf } from "./minor-of.ts";
import { RefundShares } from "./refund-shares.tsx";
import { WordsField } from "./words-field.tsx";

interface Props {
  readonly order: Order;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Shows what would go back by each share, and sends the refund for the figures that were shown (G146). */
export function RefundDialog({ order: { id, subdomain }, opened, onClose }: Props) {
  const [wanted, setWanted] = useState<RefundShare>("prorated");
  const [amount, setAmount] = useState("");
  const [words, setWords] = useState("");
  const { data, error, refetch } = useQuery({
    queryKey: ["refund-preview", id],
    queryFn: ({ signal }) => callConsole(previewRefund, { params: { id }, body: {} }, signal),
    enabled: opened,
    staleTime: 0,
    gcTime: 0,
  });
  const share = wanted === "prorated" && data?.prorated === null ? "full" : wanted;
  const minor = data && minorFor(data, share, amount);
  const request: ActRequest = {
    title: `Refund ${subdomain}`,
    action: data && minor !== undefined ? `Refund ${money(minor, data.currency)}` : "Refund",
    consequences: "It goes back to the card or account that paid. Money that has left does not return.",
    fields: (
      <>
        {error && <NotRead what="What would go back" error={error} onAgain={refetch} />}
        {!data && !error && (
          <Skeleton height={240} radius="md" role="status" aria-label="Computing what would go back" />
        )}
        {data && <RefundShares choices={data} share={share} onShare={setWanted} amount={amount} onAmount={setAmount} />}
        <WordsField label="Words to the owner, if any" value={words} onChange={setWords} />
      </>
    ),
    complete: minor !== undefined,
    expected: subdomain,
    run: (reason, typed) => {
      const sums = { minor: minor ?? 0, refunded_minor: data?.refunded_minor ?? 0 };
      return callConsole(refundOrder, { params: { id }, body: { share, ...sums, words, reason, typed } });
    },
  };
  return <ActDialog request={opened ? request : undefined} onClose={onClose} />;
}

/** Undefined: nothing that can be refunded. */
function minorFor({ full, prorated }: RefundChoices, share: RefundShare, amount: string): number | undefined {
  if (share === "prorated") return prorated?.minor;
  if (share === "full") return full.minor;
  const minor = minorOf(amount);
  return minor !== undefined && minor >= 1 && minor <= full.minor ? minor : undefined;
}
