import { readPerson } from "@berth/contract/console/people";
import { queryOptions } from "@tanstack/react-query";
import { callConsole } from "./call-console.ts";

/** One account. The frame reads its address from the cache, as the title of the screen. */
export const personQuery = (id: string) =>
  queryOptions({
    queryKey: ["people", "one", id],
    queryFn: ({ signal }) => callConsole(readPerson, { params: { id }, body: {} }, signal),
  });
