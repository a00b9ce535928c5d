import { declineRefund, type OperatedOrder, sendReceiptAgain } from "@berth/contract/console/orders";
import { Button } from "@mantine/core";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { RefundDialog } from "./refund-dialog.tsx";
import { WordsField } from "./words-field.tsx";

type Act = "refund" | "decline" | "receipt";

/** What an operator can do with an order, each confirmed with a reason. */
export function OrderActs({ operated: { order, request } }: { readonly operated: OperatedOrder }) {
  const { id, subdomain, receipts, may_ask_refund } = order;
  const [act, setAct] = useState<Act>();
  const [words, setWords] = useState("");
  const close = () => setAct(undefined);
  const decline: ActRequest = {
    title: `Decline the refund of ${subdomain}`,
    action: "Decline",
    consequences: "The money stays. The owner reads your words, by bell and by mail.",
    fields: <WordsField label="Words to the owner" value={words} onChange={setWords} />,
    complete: words.trim() !== "",
    run: (reason) => callConsole(declineRefund, { params: { id }, body: { words, reason } }),
  };
  const receipt: ActRequest = {
    title: `Send the receipt of ${subdomain} again`,
    action: "Send",
    consequences: "It goes to the owner's address, by mail.",
    run: (reason) => callConsole(sendReceiptAgain, { params: { id }, body: { reason } }),
  };
  const isAsked = request !== null;
  return (
    <div className={list.actions}>
      {(isAsked || may_ask_refund) && (
        <Button variant="default" onClick={() => setAct("refund")}>
          Refund
        </Button>
      )}
      {isAsked && (
        <Button variant="default" onClick={() => setAct("decline")}>
          Decline
        </Button>
      )}
      {receipts.length > 0 && (
        <Button variant="subtle" onClick={() => setAct("receipt")}>
          Send receipt again
        </Button>
      )}
      <RefundDialog order={order} opened={act === "refund"} onClose={close} />
      <ActDialog request={act === "decline" ? decline : act === "receipt" ? receipt : undefined} onClose={close} />
    </div>
  );
}
