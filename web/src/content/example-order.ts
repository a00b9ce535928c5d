import { catalogue, prices } from "../catalogue.ts";

/** The example in the landing page's picture; /status has measured times. */
export const exampleOrder = {
  gpus: nearest(
    prices().rows.map(({ gpus }) => gpus),
    2,
  ),
  hours: nearest(prices().hours, 6),
  subdomain: "resnet-lab",
  elapsedSeconds: 24.3,
  /** `doing` is the text while it runs, `name` before and after; seconds since the payment. */
  stages: [
    { name: "Payment confirmed", doing: "Starting: confirming payment", at: 0.0 },
    { name: "GPUs reserved", doing: "Starting: reserving GPUs", at: 0.2 },
    { name: "Image ready", doing: "Starting: pulling image", at: 1.1 },
    { name: "Container started", doing: "Starting: container", at: 6.8 },
    { name: "JupyterLab started", doing: "Starting: JupyterLab", at: 19.5 },
    { name: "Answers at its address", doing: "Starting: waiting for an answer", at: 24.3 },
  ],
  cells: [
    {
      prompt: 1,
      code: "import torch\ntorch.cuda.get_device_name(0)",
      output: `'${deviceName(catalogue.gpus[0]?.model ?? "GPU")}'`,
    },
    {
      prompt: 2,
      code: "trainer.fit(model, train, epochs=3)",
      output: "epoch 1  loss 0.412  acc 0.861\nepoch 2  loss 0.239  acc 0.917\nepoch 3  loss 0.181  acc 0.938",
    },
  ],
} as const;

/** As PyTorch names it: a gaming model, such as RTX 4070, is a GeForce; A100 and RTX 6000 Ada are none. */
export function deviceName(model: string): string {
  return /^[GR]TX \d\d[5-9]0/.test(model) ? `NVIDIA GeForce ${model}` : `NVIDIA ${model}`;
}

function nearest(offered: readonly number[], wanted: number): number {
  return offered.includes(wanted) ? wanted : Math.min(...offered);
}
