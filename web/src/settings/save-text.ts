/** Saves a text as a file of this browser. */
export function saveText(text: string, name: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the blob by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
