import { subdomainCheck, subdomainProblem, texts } from "@berth/contract";
import { useDebouncedValue } from "@mantine/hooks";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "../../api/call.ts";

/** Spec 9.2. */
const debounceMs = 300;

export const nameQuery = (name: string) =>
  queryOptions({
    queryKey: ["subdomain", name],
    queryFn: ({ signal }) => call(subdomainCheck, { params: { name }, body: {} }, { signal }),
    staleTime: 5_000,
    retry: false,
  });

export type NameCheck =
  | { readonly state: "empty" | "checking" | "unchecked" }
  | { readonly state: "free"; readonly message: string }
  | { readonly state: "refused"; readonly message: string; readonly suggestion: string | null };

/** Checks a name while it is typed (G36): its format here, its availability on the server. */
export function useNameCheck(subdomain: string): NameCheck {
  const name = subdomain.trim();
  const [settled] = useDebouncedValue(name, debounceMs);
  const problem = subdomainProblem(settled);
  const { data, isError } = useQuery({ ...nameQuery(settled), enabled: problem === undefined });
  if (name === "") return { state: "empty" };
  if (settled !== name) return { state: "checking" };
  if (problem !== undefined) return { state: "refused", message: problem, suggestion: null };
  if (data?.available) return { state: "free", message: data.message };
  if (data) return { state: "refused", message: data.message || texts.subdomainTaken, suggestion: data.suggestion };
  return { state: isError ? "unchecked" : "checking" };
}
