import type { AnyEndpoint, Input } from "@berth/contract";
import { withToken } from "./call.ts";
import { saveFile } from "./save-file.ts";
import { sendForFile } from "./send.ts";

/** Fetches a file with the session's token, which a link cannot send, and saves it. */
export async function download<E extends AnyEndpoint>(endpoint: E, input: Input<E>, fileName: string): Promise<void> {
  saveFile(fileName, await withToken((token) => sendForFile(endpoint, input, { token })));
}
