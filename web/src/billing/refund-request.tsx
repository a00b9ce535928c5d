import { askForRefund, type Order, refundRequestReasons, refundTextLength } from "@berth/contract";
import { Button, Select, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call, said } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { notices } from "../content/notices.ts";
import { refundRequestWords } from "../content/order-texts.ts";
import { Dialog } from "../ui/dialogs/dialog.tsx";
import { Notice } from "../ui/display/notice.tsx";
import { toast } from "../ui/toast/toast.ts";
import classes from "./order-page.module.css";

const reasons = refundRequestReasons.map((value) => ({ value, label: refundRequestWords[value] }));
const { min, max } = refundTextLength;

/** What is not paid back by itself is asked for here, and decided by a person (docs/internals/money.md). */
export function RefundRequest({ order }: { readonly order: Order }) {
  const [opened, setOpened] = useState(false);
  const [reason, setReason] = useState<(typeof refundRequestReasons)[number] | null>(null);
  const [text, setText] = useState("");
  const [asked, setAsked] = useState(false);
  const client = useQueryClient();
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (body: { reason: (typeof refundRequestReasons)[number]; text: string }) =>
      call(askForRefund, { params: { order_id: order.id }, body }),
    onSuccess: async () => {
      setOpened(false);
      toast.success(notices.refundAsked);
      // All of them: the page may stand under the provider's id.
      await client.invalidateQueries({ queryKey: keys.orders });
    },
  });
  const short = text.trim().length < min;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (reason !== null && !short && !isPending) mutate({ reason, text: text.trim() });
  };
  return (
    <>
      <Button variant="subtle" onClick={() => setOpened(true)}>
        Ask for a refund
      </Button>
      <Dialog
        opened={opened}
        title="Ask for a refund"
        onClose={() => {
          setOpened(false);
          reset();
        }}
      >
        <form noValidate onSubmit={submit} className={classes.request}>
          <p>
            What we fail to deliver goes back by itself. For anything else a person decides, and answers here, by bell
            and by mail.
          </p>
          <Select
            label="What happened"
            placeholder="Choose one"
            data={reasons}
            value={reason}
            onChange={(value) => setReason(value as typeof reason)}
            error={asked && reason === null && notices.refundReason}
            withScrollArea={false}
          />
          <Textarea
            label="When, and what was lost"
            rows={5}
            maxLength={max}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            description={`${text.length}/${max}`}
            inputWrapperOrder={["label", "input", "description", "error"]}
            error={asked && short && notices.refundText}
          />
          {error && <Notice tone="fail" title={said(error, notices.refundNotSent)} alert />}
          <div className={classes.buttons}>
            <Button variant="subtle" onClick={() => setOpened(false)}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              Ask for a refund
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
