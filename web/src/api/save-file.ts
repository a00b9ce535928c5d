/** Enough time for the browser to start saving. */
const keptMs = 60_000;

/** Lets the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs);
}

/** `type`: a media type. */
export function saveText(name: string, text: string, type: string): void {
  saveFile(name, new Blob([text], { type }));
}
