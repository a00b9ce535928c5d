import { resetPassword } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/api-error.ts";
import { call } from "../api/call.ts";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";

/** How long toasts stay on the forgot and reset screens (spec 9.2). */
export const resetToastMs = { success: 4000, error: 6000, info: 6000 } as const;

/** Requests a reset mail and shows the result in a toast; `onError` gets the text for the field. */
export function useResetMail(onError: (text: string | undefined) => void) {
  return useMutation({
    mutationFn: ({ email }: { email: string }) => call(resetPassword, { params: {}, body: { email: email.trim() } }),
    onSuccess: () =>
      toast.info("Reset password email sent. Please check you given email.", {
        title: "Email Sent",
        duration: resetToastMs.info,
      }),
    onError: (error) => {
      const duration = resetToastMs.error;
      if (!(error instanceof ApiError) || error.code === "network") {
        toast.error("Technical Failure, please try again after a while", { title: "Failed", duration });
        return;
      }
      toast.error("Mismatch in user submit", { title: "Error", duration });
      // The toast has the specified text; the field shows what to do.
      onError(error.code === "rate_limited" ? commonTexts.tooManyResets : undefined);
    },
  });
}
