import { AsyncLocalStorage } from "node:async_hooks";

/** The id of the request that the running code belongs to: every line of the log has it, also of code that knows no request. */
export const requestIds = new AsyncLocalStorage<string>();
