import { askForRefund, type Order, refundRequestReasons, refundTextLength } from "@berth/contract";
import { Button, Select, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { keys } from "../../api/queries.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { refundRequestTexts } from "../../content/order-texts.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { amountText } from "../statement.ts";
import classes from "./order-page.module.css";

type Reason = (typeof refundRequestReasons)[number];

const reasons = refundRequestReasons.map((value) => ({ value, label: refundRequestTexts[value] }));
const { min, max } = refundTextLength;

/** Requests a refund that is not automatic; a person decides (docs/internals/money.md). */
export function RefundRequest({ order }: { readonly order: Order }) {
  const [opened, setOpened] = useState(false);
  const client = useQueryClient();
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (body: { reason: Reason; text: string }) =>
      call(askForRefund, { params: { order_id: order.id }, body }),
    onSuccess: async () => {
      setOpened(false);
      toast.success(commonTexts.refundAsked);
      // Invalidates all orders, because the URL may have the provider's id.
      await client.invalidateQueries({ queryKey: keys.orders });
    },
  });
  const [submitted, setSubmitted] = useState(false);
  const form = useForm({
    initialValues: { reason: null as Reason | null, text: "" },
    validate: {
      reason: (reason) => reason === null && commonTexts.refundReason,
      text: (text) => text.trim().length < min && commonTexts.refundText,
    },
    validateInputOnChange: true,
  });
  const submit = form.onSubmit(({ reason, text }) => {
    if (reason !== null && !isPending) mutate({ reason, text: text.trim() });
  });
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
        <form
          noValidate
          onSubmit={(event) => {
            setSubmitted(true);
            submit(event);
          }}
          className={classes.request}
        >
          <p>
            What we fail to deliver goes back by itself. For anything else a person decides, and answers here, by bell
            and by mail. {mostText(order)} Banks take 4-5 business days after the decision.
          </p>
          <Select
            label="What happened"
            placeholder="Choose one"
            data={reasons}
            withScrollArea={false}
            {...form.getInputProps("reason", { withError: submitted })}
          />
          <Textarea
            label="When, and what was lost"
            rows={5}
            maxLength={max}
            description={`${form.values.text.length}/${max}`}
            inputWrapperOrder={["label", "input", "description", "error"]}
            {...form.getInputProps("text", { withError: submitted })}
          />
          {error && <Notice tone="fail" title={messageOf(error, commonTexts.refundNotSent)} alert />}
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

function mostText({ money: { charged, refunded, refunding, currency } }: Order): string {
  return `At most ${amountText(charged - refunded - refunding, currency)} can go back; unused time is worth its share of that.`;
}
