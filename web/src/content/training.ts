/** The dashboard's info panel: which models fit on how many GPUs (spec 2.7). Operators with other GPUs edit it. */
export const training = {
  rows: [
    { gpus: "1 GPU", text: "ResNet, U-Net, BERT-base; Whisper small; LoRA on 3B models" },
    { gpus: "2 to 4", text: "LoRA on 7B models, Stable Diffusion, data-parallel training" },
    { gpus: "6 to 8", text: "7B models sharded over one machine, large batches" },
  ],
} as const;
