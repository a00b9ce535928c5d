import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "./console-client.ts";

/** What is rented here: GPUs, or slots where no host has a GPU (G307). */
export function useUnit(): "GPU" | "slot" {
  return useQuery(sessionQuery).data?.unit === "cpu" ? "slot" : "GPU";
}
