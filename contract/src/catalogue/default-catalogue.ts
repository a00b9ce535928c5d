import type { Catalogue } from "./catalogue.ts";
import { type Prices, pricesAt } from "./prices.ts";

/** Spec 9.1: what is sold until the operator names a file of their own. */
export const defaultCatalogue: Catalogue = {
  types: [
    {
      id: "jupyter",
      name: "JupyterLab",
      short: "Jupyter",
      about: "A clean notebook server. Install what you like.",
      packages: ["python 3", "pip", "jupyterlab 4.6"],
    },
    {
      id: "pytorch",
      name: "PyTorch",
      about: "Train and fine-tune models. JupyterLab included.",
      packages: ["torch", "torchvision", "torchaudio", "jupyterlab 4.6"],
    },
    {
      id: "tensorflow",
      name: "TensorFlow",
      about: "Keras and TensorBoard ready. JupyterLab included.",
      packages: ["tensorflow", "keras", "tensorboard", "jupyterlab 4.6"],
    },
  ],
  gpus: [{ model: "RTX 4070", memoryGb: 12 }],
  prices: [
    {
      from: "2026-01-01",
      // Four GPUs twice is cheaper than eight at once, on purpose (G4).
      rows: [
        { gpus: 1, hourly: 0.2, monthly: 150 },
        { gpus: 2, hourly: 0.4, monthly: 280, monthlyLabel: "7% off" },
        { gpus: 4, hourly: 0.75, hourlyLabel: "6.25% discount", monthly: 520, monthlyLabel: "13% off" },
        { gpus: 6, hourly: 1.05, hourlyLabel: "12.5% discount", monthly: 750, monthlyLabel: "16% off" },
        { gpus: 8, hourly: 1.6, hourlyLabel: "Premium, no discount", monthly: 1200 },
      ],
      hours: [1, 6, 12, 24, 48, 72, 168, 720],
      currencies: [
        { code: "USD", rate: 1, roundTo: 0.01 },
        { code: "INR", rate: 88.22, roundTo: 1 },
      ],
    },
  ],
};

/** For tests, and for pages that are drawn before a server names its own. */
export const defaultPrices: Prices = pricesAt(defaultCatalogue, new Date("2026-01-01T00:00:00Z"));
