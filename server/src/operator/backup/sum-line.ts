/** A line as sha256sum writes and checks it: a name with a backslash or a line break is escaped. */
export function sumLine(digest: string, path: string): string {
  const escaped = path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
  return `${escaped === path ? "" : "\\"}${digest}  ${escaped}\n`;
}
