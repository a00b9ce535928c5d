import { isEmail, resetPassword, texts } from "@berth/contract";
import { ApiError, call } from "../api/call.ts";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast/toast.ts";
import { resetToastMs } from "./reset-toast-ms.ts";

/** Why nothing is sent, for the field; an empty address is told by toast as well (spec 8). */
export function forgotProblem(email: string): string | undefined {
  if (email.trim() === "") {
    toast.error(texts.emailEmpty, { title: "Error", duration: resetToastMs.error });
    return texts.emailEmpty;
  }
  return isEmail(email.trim()) ? undefined : notices.emailForm;
}

/** Sends and says how it went; answers what else the field has to say. */
export async function askForReset(email: string): Promise<string | undefined> {
  try {
    await call(resetPassword, { params: {}, body: { email: email.trim() } });
    toast.info("Reset password email sent. Please check you given email.", {
      title: "Email Sent",
      duration: resetToastMs.info,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === "network") {
      const text = "Technical Failure, please try again after a while";
      toast.error(text, { title: "Failed", duration: resetToastMs.error });
      return undefined;
    }
    toast.error("Mismatch in user submit", { title: "Error", duration: resetToastMs.error });
    // The toast's words are the specification's; these say what to do.
    return error.code === "rate_limited" ? notices.tooManyResets : undefined;
  }
}
