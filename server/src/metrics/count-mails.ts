import type { Metrics } from "./create-metrics.ts";

/** For `startOutbox`: counts the attempts to send a mail. */
export function countMails({ mailAttempts, mailServerUp }: Pick<Metrics, "mailAttempts" | "mailServerUp">) {
  return (result: "sent" | "refused" | "failed") => {
    mailAttempts.inc({ result });
    mailServerUp.set(result === "failed" ? 0 : 1);
  };
}
