import { paymentsCsv } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { messageOf } from "../api/call.ts";
import { download } from "../api/download.ts";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";

/** Downloads every payment of the account, for a spreadsheet (G334). */
export function CsvButton({ userId }: { readonly userId: string }) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => download(paymentsCsv, { params: { user_id: userId }, body: {} }, "payments.csv"),
    onError: (error) =>
      void toast.error(`${commonTexts.csvFailed} ${messageOf(error, error.message)}`, {
        action: { label: commonTexts.tryAgain, onClick: () => mutate() },
      }),
  });
  return (
    <Button
      size="xs"
      variant="default"
      // Not `disabled`, which would lose the focus.
      aria-disabled={isPending}
      data-disabled={isPending}
      onClick={() => !isPending && mutate()}
    >
      {isPending ? "Preparing..." : "All payments (CSV)"}
    </Button>
  );
}
