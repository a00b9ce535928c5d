/** Where to go after signing in. Only a path of this app: `//host` and `/\host` would leave it. */
export function returnPath(from: string | null): string {
  return from !== null && /^\/(?![/\\])/.test(from) ? from : "/dashboard";
}
