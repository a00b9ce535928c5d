import type { AnyEndpoint, Input } from "@berth/contract";
import { withToken } from "./call.ts";
import { sendForFile } from "./send.ts";

/** Long enough for any browser to begin to save. */
const keptMs = 60_000;

/** Fetches a file with the session's token, which a plain link could not send, and saves it. */
export async function download<E extends AnyEndpoint>(endpoint: E, input: Input<E>, fileName: string): Promise<void> {
  const content = await withToken((token) => sendForFile(endpoint, input, { token }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs);
}
