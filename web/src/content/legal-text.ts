export interface LegalSection {
  readonly title: string;
  readonly text?: string;
  readonly items?: readonly string[];
  readonly ordered?: boolean;
}

export interface LegalText {
  readonly title: string;
  readonly updated: string;
  readonly summary: string;
  readonly sections: readonly LegalSection[];
}
