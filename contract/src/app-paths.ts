/** All routes of the browser app; `:name` is a parameter (spec 2.1, G84, G38, G52). web/src/routes.tsx renders them. */
export const appPaths = [
  "/",
  "/terms-condition",
  "/refund",
  "/privacy-policy",
  "/legal-compliance",
  "/delivery-policy",
  "/status",
  "/login",
  "/signup",
  "/forgot-password",
  "/reset-password",
  "/verify-email",
  "/open",
  "/dashboard",
  "/environments",
  "/environments/create",
  "/environments/:id",
  "/billing",
  "/billing/orders/:orderId",
  "/support",
  "/settings",
] as const;

/** Whether the browser app has a route for a path without query. Ignores case and a trailing slash. */
export function isAppPath(path: string): boolean {
  const parts = partsOf(path.toLowerCase());
  return appPaths.some((pattern) => {
    const expected = partsOf(pattern.toLowerCase());
    return (
      expected.length === parts.length && expected.every((part, index) => part.startsWith(":") || part === parts[index])
    );
  });
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
