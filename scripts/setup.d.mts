/** For tests, which are typed. */
export function isSetUp(): boolean;
export function buildServer(): void;
export const trusted: readonly string[];
export const root: string;
