import { plural } from "@berth/contract";
import { prices } from "../catalogue.ts";

/** What fits into so much memory, from `fromGb` on. */
const fits = [
  { fromGb: 0, text: "ResNet, U-Net, BERT-base; Whisper small; LoRA on 3B models" },
  { fromGb: 24, text: "LoRA on 7B models, Stable Diffusion, data-parallel training" },
  { fromGb: 72, text: "7B models sharded over one machine, large batches" },
] as const;

/** The dashboard's info panel: which models fit on how many GPUs of this memory (spec 2.7): "2 to 4". */
export function trainingRows(memoryGb: number): readonly { readonly gpus: string; readonly text: string }[] {
  const counts = prices().rows.map(({ gpus }) => gpus);
  return fits.flatMap(({ fromGb, text }, index) => {
    const belowGb = fits[index + 1]?.fromGb ?? Number.POSITIVE_INFINITY;
    const fitting = counts.filter((gpus) => gpus * memoryGb >= fromGb && gpus * memoryGb < belowGb);
    return fitting.length === 0 ? [] : [{ gpus: rangeOf(fitting), text }];
  });
}

function rangeOf(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least === most) return plural(least, "GPU");
  return `${least} to ${most}`;
}
