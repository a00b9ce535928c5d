import type { Catalogue } from "@berth/contract";

/** Another GPU park, other prices, three currencies, one type removed and one renamed. */
export const otherCatalogue: Catalogue = {
  types: [
    { id: "jupyter", name: "Plain Lab", about: "Nothing but a notebook.", packages: ["python 3"] },
    { id: "vision", name: "Vision", about: "Images and video.", packages: ["opencv"], recipe: "jupyter" },
  ],
  gpus: [
    { model: "L40S", memoryGb: 48 },
    { model: "A100", memoryGb: 80 },
  ],
  prices: [
    {
      from: "2026-01-01",
      rows: [
        { gpus: 1, hourly: 1.13, monthly: 703 },
        { gpus: 2, hourly: 2.17, hourlyLabel: "4% off", monthly: 1301.5, monthlyLabel: "8% off" },
        { gpus: 3, hourly: 3.01, monthly: 1900 },
      ],
      hours: [1, 3, 10, 168, 720],
      currencies: [
        { code: "USD", rate: 1, roundTo: 0.01 },
        { code: "EUR", rate: 0.91, roundTo: 0.01 },
        { code: "INR", rate: 90.5, roundTo: 1 },
      ],
    },
  ],
};

const oldWords =
  /RTX|4070|12 ?GB|TensorFlow|tensorflow|PyTorch|pytorch|88\.22|8822|\$0\.(20|40|75)\b|\$1\.(05|60)\b|\$(150|280|520|750|1,?200)\b|6\.25|12\.5%|\b(7|13|16)% off|1, 2, 4, 6|\b(6|12|48|72) hours/g;

/** What only the built-in catalogue says. */
export function oldWordsIn(text: string): string[] {
  return text.match(oldWords) ?? [];
}
