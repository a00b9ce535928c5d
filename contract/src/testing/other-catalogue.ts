import type { Catalogue } from "../catalogue/catalogue.ts";

/** Two GPU models, other prices and announced ones, three currencies, one type removed and one renamed. */
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
        { gpus: 8, hourly: 7.91, monthly: 4300 },
      ],
      hours: [1, 3, 10, 168, 720],
      currencies: [
        { code: "USD", rate: 1, roundTo: 0.01 },
        { code: "EUR", rate: 0.91, roundTo: 0.01 },
        { code: "INR", rate: 90.5, roundTo: 1 },
      ],
    },
    {
      from: "2999-01-01",
      rows: [
        { gpus: 1, hourly: 1.4, monthly: 810 },
        { gpus: 2, hourly: 2.17, monthly: 1450 },
        { gpus: 8, hourly: 7.91, monthly: 4300 },
      ],
      hours: [1, 3, 10, 168, 720],
      currencies: [
        { code: "USD", rate: 1, roundTo: 0.01 },
        { code: "EUR", rate: 0.95, roundTo: 0.01 },
        { code: "INR", rate: 90.5, roundTo: 1 },
      ],
    },
  ],
  terms: [
    { from: "2026-02-01", summary: "Sharing was made clearer." },
    { from: "2999-01-01", summary: "Sessions end after 100 hours." },
  ],
};

const oldWords =
  /\bRTX\b|\b12 ?GB|TensorFlow|tensorflow|PyTorch|pytorch|\b88\.22\b|\$0\.(20|40|75)\b|\$1\.(05|60)\b|\$(150|280|520|750|1,?200)\b|6\.25%|12\.5%|\b(7|13|16)% off|1, 2, 4, 6|\b(6|12|48|72) hours/g;

/** What only the built-in catalogue says. Ids cannot match. */
export function oldWordsIn(text: string): string[] {
  return text.match(oldWords) ?? [];
}
