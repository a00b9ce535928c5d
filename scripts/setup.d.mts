/** For tests, which are typed. */
export function isSetUp(): boolean;
export const trusted: readonly string[];
export const root: string;
