import type { Shop } from "./open-shop.ts";

/** What a page takes for granted. */
export interface Scene {
  /** Placeholders of the page and what they stand for; read before each command. */
  readonly values?: () => readonly (readonly [placeholder: string, value: string])[];
  readonly env?: Readonly<Record<string, string>>;
  /** What must hold after the last command. */
  readonly after?: () => Promise<void>;
}

/** Runs a command of the fixture, as an operator would. */
export type Operate = (command: string) => Promise<string>;

export type SetScene = (shop: Shop, operate: Operate) => Promise<Scene>;
