/** For tests, which are typed. */
export function isSetUp(): boolean;
