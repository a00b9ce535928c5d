import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { billingQuery } from "../api/queries.ts";
import { toast } from "../ui/toast/toast.ts";
import { reasonOf, type Statement } from "./statement.ts";

export interface Billing {
  /** Undefined until the first answer; an old statement stays while a new one is on its way. */
  readonly statement: Statement | undefined;
  /** Undefined unless the last reading failed (spec 8.5). */
  readonly reason: string | undefined;
}

/** The user's statement. Each visit is told once how reading it ended; a refetch in the background says nothing. */
export function useBilling(userId: string): Billing {
  const { data, error, status, isFetchedAfterMount } = useQuery(billingQuery(userId));
  const ended = isFetchedAfterMount ? status : "pending";
  useEffect(() => {
    if (ended === "success") toast.success("Billing data loaded successfully");
    if (ended === "error") toast.error("Error fetching billing data", { title: "Error" });
  }, [ended]);
  return { statement: data, reason: error ? reasonOf(error) : undefined };
}
