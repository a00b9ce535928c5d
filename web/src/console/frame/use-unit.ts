import { useQuery } from "@tanstack/react-query";
import { type UnitWords, unitWords } from "../../content/unit-words.ts";
import { sessionQuery } from "./console-client.ts";

/** What this installation rents, as it was when the console was opened. */
export function useUnit(): UnitWords {
  return unitWords[useQuery(sessionQuery).data?.unit ?? "gpu"];
}
