import { openTicket } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/api-error.ts";
import { call } from "../api/call.ts";
import { toast } from "../ui/toast/toast.ts";
import type { TicketDraft } from "./ticket-draft.ts";
import type { Support } from "./use-support.ts";

export interface Prepared {
  /** False after a network error; the chat works without the server (G81). */
  readonly saved: boolean;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly link: string;
}

interface Ticket {
  readonly draft: TicketDraft;
  readonly topic: string;
}

/** Idle, submitting, then success or error (spec 4). */
export function useTicket(support: Support) {
  const [prepared, setPrepared] = useState<Prepared>();
  const handOffOf = ({ draft, topic }: Ticket) => {
    const message = support.message(topic, draft.description);
    return { message, code: support.code, link: support.link(message) };
  };
  const { mutate, isPending } = useMutation({
    mutationFn: ({ draft }: Ticket) => save(support, draft),
    onSuccess: ({ ticketId, message: status }, ticket) => {
      setPrepared({ ...handOffOf(ticket), saved: true, status, code: ticketId });
      support.renewCode();
    },
    onError: (error, ticket) => {
      toast.error(failureOf(error));
      const status = "The ticket could not be saved. The chat works without it: your message is ready.";
      setPrepared({ ...handOffOf(ticket), saved: false, status });
    },
  });
  return {
    busy: isPending,
    prepared,
    send: (ticket: Ticket, onSaved: () => void) => mutate(ticket, { onSuccess: onSaved }),
  };
}

async function save({ userId, email, code }: Support, { issueType, description }: TicketDraft) {
  if (issueType === null) throw new Error("no issue type");
  const body = { issueType, description, userEmail: email, userId, supportCode: code };
  return call(openTicket, { params: {}, body });
}

const unexpected = "An unexpected error occurred. Please try again.";

/** The server's message if it refused, else the specified text (spec 8). */
function failureOf(error: unknown): string {
  return (error instanceof ApiError && error.status > 0 && error.message) || unexpected;
}
