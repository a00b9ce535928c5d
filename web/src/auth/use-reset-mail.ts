import { resetPassword } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/api-error.ts";
import { call } from "../api/call.ts";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast/toast.ts";
import { resetToastMs } from "./reset-toast-ms.ts";

/** Asks for a reset mail and shows the outcome; `onError` gets what the field adds to the toast, if anything. */
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
      // The toast has the specification's text; the field tells what to do.
      onError(error.code === "rate_limited" ? notices.tooManyResets : undefined);
    },
  });
}
