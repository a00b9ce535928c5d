interface Line {
  readonly level: string;
  readonly msg?: string;
  readonly err?: { readonly message: string; readonly stack?: string };
  readonly repeated?: number;
}

const labels: Readonly<Record<string, string>> = { warn: "WARNING: ", error: "ERROR: ", fatal: "ALARM: " };

/** Formats a JSON line of the log for a terminal: message and error, without fields. */
export function readableLine(line: string): string {
  const { level, msg, err, repeated }: Line = JSON.parse(line);
  const text = [msg, err && (level === "warn" ? err.message : (err.stack ?? err.message))].filter(Boolean).join(": ");
  return `${labels[level] ?? ""}${text}${repeated ? ` (${repeated} more)` : ""}\n`;
}
