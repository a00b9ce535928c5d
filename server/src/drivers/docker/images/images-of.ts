import { recipeOf } from "@berth/contract";
import type { Config } from "../../../config/config.ts";
import { currentImage, imageRecord } from "./image-catalogue.ts";

/**
 * The image that a Docker host starts for a type, which is that of its recipe: one that was prepared here or, beside a
 * cluster, the one that the cluster's nodes fetch (G204).
 */
export function imagesOf({
  catalogue,
  runtime,
  kubernetes,
  dataDir,
}: Pick<Config, "catalogue" | "runtime" | "kubernetes" | "dataDir">): (type: string) => Promise<string | undefined> {
  const record = imageRecord(dataDir);
  return async (type) => {
    const recipe = recipeOf(catalogue, type);
    return (runtime === "kubernetes" ? kubernetes.images[recipe] : undefined) ?? (await currentImage(recipe, record));
  };
}
