import { creditNote, receipt } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { messageOf } from "../api/call.ts";
import { download } from "../api/download.ts";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";

interface Props {
  readonly userId: string;
  readonly number: string;
  readonly paper?: "Receipt" | "Credit note";
  readonly size?: "xs" | "sm";
  readonly variant?: "subtle" | "default";
  readonly children?: string;
}

const papers = { Receipt: receipt, "Credit note": creditNote } as const;

/** Downloads the receipt of one payment, or the credit note of one refund (G86). */
export function ReceiptButton({
  userId,
  number,
  paper = "Receipt",
  size = "xs",
  variant = "subtle",
  children = paper,
}: Props) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => download(papers[paper], { params: { user_id: userId, number }, body: {} }, `${number}.pdf`),
    onError: (error) => {
      const failed = commonTexts.paperFailed(paper.toLowerCase());
      toast.error(`${failed} ${messageOf(error, error.message)}`, {
        action: { label: commonTexts.tryAgain, onClick: () => mutate() },
      });
    },
  });
  return (
    <Button
      size={size}
      variant={variant}
      aria-label={isPending ? `Preparing ${paper.toLowerCase()} ${number}` : `${paper} ${number}`}
      // Not `disabled`, which would lose the focus.
      aria-disabled={isPending}
      data-disabled={isPending}
      onClick={() => !isPending && mutate()}
    >
      {isPending ? "Preparing..." : children}
    </Button>
  );
}
