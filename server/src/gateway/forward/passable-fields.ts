import { createFieldKinds } from "../http-client/field-kinds.ts";
import { cookieNames } from "../principal/reserved-names.ts";

const kindOf = createFieldKinds<"pass" | "drop" | "cookie">(
  { "clear-site-data": "drop", "service-worker-allowed": "drop", "set-cookie": "cookie" },
  "pass",
);

/**
 * Response header fields (name, value, name, value) without those that would affect other hosts or our own cookies, or let
 * a service worker cover more than its own folder (G301).
 */
export function passableFields(fields: readonly string[]): readonly string[] {
  for (let i = 0; i < fields.length; i += 2)
    if (!mayPass(fields[i] as string, fields[i + 1] as string)) return withoutBarred(fields);
  return fields;
}

function withoutBarred(fields: readonly string[]): string[] {
  const passed: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const [name, value] = [fields[i] as string, fields[i + 1] as string];
    if (mayPass(name, value)) passed.push(name, value);
  }
  return passed;
}

function mayPass(name: string, value: string): boolean {
  const kind = kindOf(name);
  return kind === "pass" || (kind === "cookie" && maySet(value));
}

/** Refuses cookies with a Domain (siblings would get them), with our names, or without a name, which browsers send bare. */
function maySet(cookie: string): boolean {
  const equals = cookie.indexOf("=");
  const end = cookie.indexOf(";");
  if (equals <= 0 || (end !== -1 && end < equals)) return false;
  const name = cookie.slice(0, equals).trim().toLowerCase();
  return name !== "" && !cookieNames.has(name) && !/;\s*domain\s*=/i.test(cookie);
}
