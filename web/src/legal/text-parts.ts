import type { pageSettings } from "../api/page-settings.ts";

export interface TextPart {
  readonly text: string;
  /** A path of the app, or a mailto address. */
  readonly to?: string;
}

/** Parses a legal text into plain text and links for `[label](/path)` and `{email}`. */
export function textParts(text: string, settings: typeof pageSettings): TextPart[] {
  return text
    .split(/(\[[^[\]]+\]\(\/[^)]*\)|\{email\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      if (piece === "{email}") return { text: settings.email, to: `mailto:${settings.email}` };
      const [, label, to] = /^\[([^\]]+)\]\((\/.*)\)$/.exec(piece) ?? [];
      return to ? { text: filled(label ?? "", settings), to } : { text: filled(piece, settings) };
    });
}

function filled(text: string, { name, retentionDays }: typeof pageSettings): string {
  return text.replaceAll("{name}", name).replaceAll("{retentionDays}", retentionDays);
}
