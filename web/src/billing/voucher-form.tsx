import { redeemVoucher } from "@berth/contract";
import { Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../api/call.ts";
import { keys } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./billing-page.module.css";

/** Redeems a voucher's code (G155). The code stays in the field after a refusal. */
export function VoucherForm({ userId }: { readonly userId: string }) {
  const client = useQueryClient();
  const [submitted, setSubmitted] = useState(false);
  const form = useForm({
    initialValues: { code: "" },
    validate: { code: (code) => code.trim() === "" && "Type the code of your voucher" },
    validateInputOnChange: true,
  });
  const { mutate, isPending } = useMutation({
    mutationFn: (code: string) => call(redeemVoucher, { params: {}, body: { code } }),
    onSuccess: async () => {
      form.reset();
      setSubmitted(false);
      toast.success("The hours of your voucher are yours");
      await client.invalidateQueries({ queryKey: keys.credits(userId) });
    },
    onError: (error) => form.setFieldError("code", messageOf(error, "No answer. Try again: a code counts once.")),
  });
  const submit = form.onSubmit(({ code }) => {
    if (!isPending) mutate(code.trim());
  });
  return (
    <form
      noValidate
      className={classes.redeem}
      onSubmit={(event) => {
        setSubmitted(true);
        submit(event);
      }}
    >
      <TextInput
        label="Voucher code"
        placeholder="XXXXX-XXXXX-XXXXX-XXXXX"
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        {...form.getInputProps("code", { withError: submitted })}
      />
      <Button type="submit" variant="default" loading={isPending}>
        Redeem
      </Button>
    </form>
  );
}
