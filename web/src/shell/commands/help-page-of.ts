/** Pages of the documentation by the beginning of a screen's path, the longest first. */
const pages: readonly (readonly [screen: string, page: string])[] = [
  ["/environments/create", "first-notebook"],
  ["/environments/", "output"],
  ["/environments", "time"],
  ["/billing/orders", "refunds"],
  ["/billing", "paying"],
  ["/support", "help"],
  ["/settings", "account"],
];

/** The page about a screen of the app (G346); of the dashboard, the questions asked most. */
export function helpPageOf(pathname: string): string {
  const page = pages.find(([screen]) => pathname.startsWith(screen))?.[1];
  return page === undefined ? "/docs" : `/docs/use/${page}`;
}
