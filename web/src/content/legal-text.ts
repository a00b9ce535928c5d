/**
 * A legal document as data, so that an operator replaces the words and nothing else (G66). In every text `{name}`,
 * `{email}` and `{retentionDays}` stand for the operator's own settings, and `[label](/path)` is a link.
 */
export interface LegalText {
  readonly title: string;
  /** For search engines and link previews: one or two plain sentences. */
  readonly description: string;
  /** Day of the last change, as in "2026-11-20". */
  readonly updated: string;
  /** Raised with every change of meaning, and announced 30 days ahead. */
  readonly version: string;
  readonly summary: string;
  readonly sections: readonly LegalSection[];
}

export interface LegalSection {
  /** Stays when the title changes: it is part of addresses that people have kept. */
  readonly id: string;
  readonly title: string;
  readonly text?: readonly string[];
  readonly items?: readonly LegalItem[];
  readonly ordered?: boolean;
  /** Stands below the list. */
  readonly after?: string;
}

interface LegalItem {
  readonly term?: string;
  readonly text: string;
}
