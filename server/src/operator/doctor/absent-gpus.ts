import type { Catalogue } from "@berth/contract";
import type { Db } from "../../database/database.ts";
import { readGpuModels } from "../../environments/hosts/read-gpu-models.ts";

/** GPUs of the operator's catalogue that no host has. No fault: pages name what the hosts report (G128). */
export async function absentGpus(db: Db, { gpus }: Catalogue): Promise<string[]> {
  const found = await readGpuModels(db);
  const absent = gpus.filter(({ model }) => !found.some((each) => each.model === model));
  if (found.length === 0 || absent.length === 0) return [];
  const names = (models: readonly { readonly model: string }[]) => models.map(({ model }) => model).join(", ");
  return [`The catalogue names ${names(absent)}, which no host reports: pages name ${names(found)} instead.`];
}
