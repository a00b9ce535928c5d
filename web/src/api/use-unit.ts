import { useQuery } from "@tanstack/react-query";
import { type UnitWords, unitWords } from "../content/unit-words.ts";
import { capacityQuery } from "./queries.ts";

/** What this installation rents, as it was when the page was opened. A part of a page that mounts does not ask again. */
export function useUnit(): UnitWords {
  const { data } = useQuery({
    ...capacityQuery,
    refetchInterval: false,
    staleTime: Number.POSITIVE_INFINITY,
    retryOnMount: false,
  });
  return unitWords[data?.kind ?? "gpu"];
}
