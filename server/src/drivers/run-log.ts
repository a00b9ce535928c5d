import { open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

const tailBytes = 1_000_000;

/** The last lines of a file, then what is appended while `follow` says so. A file that is absent has no lines. */
export async function* readLines(
  path: string,
  { tail, signal, follow }: { tail: number; signal: AbortSignal; follow: () => Promise<boolean> },
): AsyncIterable<string> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!file) return;
  try {
    const { size } = await file.stat();
    let at = Math.max(0, size - tailBytes);
    let rest = Buffer.alloc(0);
    let first = true;
    for (;;) {
      const goesOn = await follow();
      const chunk = await readFrom(file, at);
      at += chunk.length;
      const cut = Buffer.concat([rest, chunk]);
      const end = cut.lastIndexOf(10) + 1;
      rest = cut.subarray(end);
      const lines =
        end > 0
          ? cut
              .subarray(0, end - 1)
              .toString()
              .split("\n")
          : [];
      yield* first ? lines.slice(Math.max(0, lines.length - tail)) : lines;
      first = false;
      if (signal.aborted || !goesOn) return;
      await wait(200, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  } finally {
    await file.close();
  }
}

async function readFrom(file: Awaited<ReturnType<typeof open>>, at: number): Promise<Buffer> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - at)), 0, Math.max(0, size - at), at);
  return buffer.subarray(0, bytesRead);
}
