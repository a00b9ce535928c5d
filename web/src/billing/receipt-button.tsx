import { receipt } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";
import { download } from "../api/download.ts";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast.ts";

interface Props {
  readonly userId: string;
  /** The invoice number. */
  readonly number: string;
  readonly size?: "xs" | "sm";
  readonly variant?: "subtle" | "default";
  readonly children?: string;
}

/** Downloads the receipt of one payment (G86). */
export function ReceiptButton({ userId, number, size = "xs", variant = "subtle", children = "Receipt" }: Props) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => download(receipt, { params: { user_id: userId, number }, body: {} }, `${number}.pdf`),
    onError: (error) =>
      toast.error(error instanceof ApiError ? `${notices.receiptFailed} ${error.message}` : notices.receiptFailed, {
        action: { label: notices.tryAgain, onClick: () => mutate() },
      }),
  });
  return (
    <Button
      size={size}
      variant={variant}
      aria-label={isPending ? `Preparing receipt ${number}` : `Receipt ${number}`}
      // Not `disabled`: the focus would be lost.
      aria-disabled={isPending}
      data-disabled={isPending}
      onClick={() => !isPending && mutate()}
    >
      {isPending ? "Preparing..." : children}
    </Button>
  );
}
