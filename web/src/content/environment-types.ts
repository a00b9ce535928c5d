import type { ContainerType } from "@berth/contract";

export const environmentTypes: readonly {
  value: ContainerType;
  name: string;
  blurb: string;
  packages: readonly string[];
}[] = [
  {
    value: "jupyter",
    name: "JupyterLab",
    blurb: "A clean notebook server. Install what you like.",
    packages: ["python 3", "pip", "jupyterlab 4.6"],
  },
  {
    value: "pytorch",
    name: "PyTorch",
    blurb: "Train and fine-tune models. JupyterLab included.",
    packages: ["torch", "torchvision", "torchaudio", "jupyterlab 4.6"],
  },
  {
    value: "tensorflow",
    name: "TensorFlow",
    blurb: "Keras and TensorBoard ready. JupyterLab included.",
    packages: ["tensorflow", "keras", "tensorboard", "jupyterlab 4.6"],
  },
];

export function typeName(value: ContainerType): string {
  return environmentTypes.find((type) => type.value === value)?.name ?? value;
}

/** Spec 9.1; each hour count is one the contract's price table knows. */
export const durations = [
  { hours: 1, label: "1 hour" },
  { hours: 6, label: "6 hours" },
  { hours: 12, label: "12 hours" },
  { hours: 24, label: "24 hours" },
  { hours: 48, label: "48 hours" },
  { hours: 72, label: "72 hours" },
  { hours: 168, label: "1 week" },
  { hours: 720, label: "1 month" },
] as const;
