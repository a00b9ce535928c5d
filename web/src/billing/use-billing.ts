import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { billingQuery } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import { reasonOf, type Statement } from "./statement.ts";

export interface Billing {
  /** Undefined until the first reply; an old statement stays while a new one loads. */
  readonly statement: Statement | undefined;
  /** Set if the last fetch failed (spec 8.5). */
  readonly reason: string | undefined;
}

/** The user's statement. A toast shows the result of the first fetch of each visit, not of background refetches. */
export function useBilling(userId: string): Billing {
  const { data, error, status, isFetchedAfterMount } = useQuery(billingQuery(userId));
  const ended = isFetchedAfterMount ? status : "pending";
  useEffect(() => {
    if (ended === "success") toast.success("Billing data loaded successfully");
    if (ended === "error") toast.error("Error fetching billing data", { title: "Error" });
  }, [ended]);
  return { statement: data, reason: error ? reasonOf(error) : undefined };
}
