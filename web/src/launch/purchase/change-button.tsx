import { verifyEmail } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/call.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { toast } from "../../ui/toast/toast.ts";
import type { Step } from "../draft/draft.ts";
import type { Problem } from "./launch-state.ts";

interface Props {
  readonly problem: Problem;
  /** Undefined without steps. */
  readonly goTo?: (step: Step) => void;
}

const labels: Readonly<Record<Step, string>> = {
  1: "Change the environment",
  2: "Change the resources",
  3: "Change the review",
  4: "Launch",
};

/** The action that corrects a refused order; empty if the user can only retry. */
export function ChangeButton({ problem: { step, unverified }, goTo }: Props) {
  if (unverified) return <SendLink />;
  if (step === undefined || !goTo) return null;
  return (
    <Button size="xs" variant="default" onClick={() => goTo(step)}>
      {labels[step]}
    </Button>
  );
}

function SendLink() {
  const { mutate, isPending, isSuccess } = useMutation({
    mutationFn: () => call(verifyEmail, { params: {}, body: {} }),
    onSuccess: () => toast.info("The link is on its way. Confirm it, then launch again.", { title: "Email Sent" }),
    onError: (error) => {
      const tooMany = error instanceof ApiError && error.code === "rate_limited";
      toast.error(tooMany ? commonTexts.tooManyLinks : "The link could not be sent. Try again.");
    },
  });
  return (
    <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
      {isSuccess ? "Send it again" : "Send the link"}
    </Button>
  );
}
