import type { RowOf } from "../../database/database.ts";
import { type Leased, workQueue } from "../../database/work-queue.ts";

/** Homes on their way to another host; a working one renews its lease (docs/internals/runtime.md). */
export const moveQueue = workQueue("home_moves", ["id"], 30);

export type LeasedMove = Leased<RowOf<"home_moves">>;

/** One attempt, with the host and the name that it copies to. */
export type Attempt = LeasedMove & { readonly to_host: string; readonly to_home: string };
