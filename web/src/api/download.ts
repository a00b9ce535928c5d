import type { AnyEndpoint, Input } from "@berth/contract";
import { withToken } from "./call.ts";
import { sendForFile } from "./send.ts";

/** Enough time for the browser to start saving. */
const keptMs = 60_000;

/** Fetches a file with the session's token, which a link cannot send, and saves it. */
export async function download<E extends AnyEndpoint>(endpoint: E, input: Input<E>, fileName: string): Promise<void> {
  const content = await withToken((token) => sendForFile(endpoint, input, { token }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs);
}
