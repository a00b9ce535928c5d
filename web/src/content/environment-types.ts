import { type ContainerType, priceTable } from "@berth/contract";
import { listed, money } from "../format.ts";

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

/** "JupyterLab, PyTorch or TensorFlow". */
export const typeList = listed(
  environmentTypes.map(({ name }) => name),
  "disjunction",
);

/** "$0.20". */
export const lowestHourlyPrice = money(Math.min(...priceTable.map(({ hourlyCents }) => hourlyCents)), "USD");

export function typeName(value: ContainerType): string {
  return environmentTypes.find((type) => type.value === value)?.name ?? value;
}

/** Spec 9.1; each number of hours is in the contract's price table. */
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
