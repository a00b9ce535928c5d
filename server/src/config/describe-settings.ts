import * as z from "zod";
import { settings } from "./settings.ts";

/** What the schema says of one setting. */
export interface SettingDescription {
  readonly name: string;
  readonly description?: string;
  readonly default?: string | number | boolean | undefined;
  /** What holds without a value. */
  readonly unset?: string;
  readonly example?: string;
  /** The setting whose row stands for this one too: it has none of its own. */
  readonly like?: string;
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** All settings as their schema describes them, in its order. */
export function describeSettings(): readonly SettingDescription[] {
  const { properties = {} } = z.toJSONSchema(settings, { io: "input" });
  // The JSON schema of a yes or no lacks its default.
  const defaults = Object.entries(settings.parse({})) as [string, SettingDescription["default"]][];
  const defaultOf = new Map(defaults);
  return Object.entries(properties).map(([name, of]) => ({
    ...(of as Omit<SettingDescription, "name">),
    name,
    default: defaultOf.get(name),
  }));
}
