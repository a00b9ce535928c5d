const longestLine = 1_000_000;

/** Lines of text without their ends; a line of more than 1 MB comes in parts, so that memory stays bounded. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) lines.push(rest);
    if (rest.length > longestLine) rest = "";
    yield* lines;
  }
  if (rest) yield rest;
}
