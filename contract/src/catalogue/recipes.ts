import type { Catalogue } from "./catalogue.ts";

/** What an environment can be made of: a list of packages in images/requirements and a target of images/Dockerfile each. */
export const recipes: readonly string[] = ["jupyter", "pytorch", "tensorflow"];

/** The recipe of a type; of one that is no longer sold its own id. */
export function recipeOf({ types }: Catalogue, type: string): string {
  return types.find(({ id }) => id === type)?.recipe ?? type;
}
