import { openTicket } from "@berth/contract";
import { useState } from "react";
import { ApiError, call } from "../api/call.ts";
import { toast } from "../ui/toast/toast.ts";
import type { Draft } from "./ticket-draft.ts";
import type { Support } from "./use-support.ts";

/** What the page shows after a hand-off was prepared. */
export interface Prepared {
  /** False when the server could not be reached: the chat works all the same (G81). */
  readonly saved: boolean;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly link: string;
}

/** Spec 4.6: idle, submitting, then success or error. `send` answers whether the ticket is saved. */
export function useTicket(support: Support) {
  const [busy, setBusy] = useState(false);
  const [prepared, setPrepared] = useState<Prepared>();
  const send = async (draft: Draft, topic: string): Promise<boolean> => {
    setBusy(true);
    const message = support.message(topic, draft.description);
    const handOff = { message, code: support.code, link: support.link(message) };
    try {
      const { ticketId, message: status } = await save(support, draft);
      setPrepared({ ...handOff, saved: true, status, code: ticketId });
      support.renewCode();
      return true;
    } catch (error) {
      toast.error(failureOf(error));
      const status = "The ticket could not be saved. The chat works without it: your message is ready.";
      setPrepared({ ...handOff, saved: false, status });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, prepared, send };
}

function save({ userId, email, code }: Support, { issueType, description }: Draft) {
  if (issueType === null) throw new Error("no issue type");
  const body = { issueType, description, userEmail: email, userId, supportCode: code };
  return call(openTicket, { params: {}, body });
}

const unexpected = "An unexpected error occurred. Please try again.";

/** The server's own words where it refused; the specification's where there was no such answer (spec 8.9). */
function failureOf(error: unknown): string {
  return (error instanceof ApiError && error.status > 0 && error.message) || unexpected;
}
