import { DriverError, type Spec } from "./driver.ts";

/**
 * Returns the value when it is one safe segment of a path, because ids and homes are joined to paths. Throws `refused` for
 * anything but letters, digits, dash, underscore and, not in front, dot.
 */
export function checkSegment(what: "environment" | "home" | "image", value: string): string {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(value))
    throw new DriverError("refused", `not a name of one ${what}: ${JSON.stringify(value.slice(0, 80))}`);
  return value;
}

export function checkSpec({ id, home, image }: Spec): void {
  checkSegment("environment", id);
  checkSegment("home", home);
  checkSegment("image", image);
}
