import { DriverError } from "./driver.ts";

/**
 * Refuses what could leave its folder: ids and homes are joined to paths, and a driver trusts no caller with that.
 * A home may hold any name that `environments` makes; the product uses letters, digits, dot, dash and underscore.
 */
export function checkSegment(what: "environment" | "home" | "image", value: string): string {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(value))
    throw new DriverError("refused", `not a name of one ${what}: ${JSON.stringify(value.slice(0, 80))}`);
  return value;
}
