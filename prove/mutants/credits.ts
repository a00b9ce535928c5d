import type { FaultsOf } from "./mutants-of.ts";

const commands = ["operator/people/credit-commands"];
const vouchers = ["operator/people/voucher-commands"];
const detector = ["environments/mining/start-mining-detector"];

/** Credits, vouchers and the mining detector. */
export const creditMutants: readonly FaultsOf[] = [
  {
    file: "payments/credits/use-credits.ts",
    tests: [...commands, "payments/settlement/settle-payment"],
    rows: [
      ["a revoked credit is used", " and revoked_at is null", "", "revoked once"],
      ["one credit serves two deliveries at once", " for update skip locked", "", "C40"],
      ["a credit is used again", " and used_by_order is null", "", "G153"],
    ],
  },
  {
    file: "payments/credits/return-credits.ts",
    tests: commands,
    rows: [
      [
        "a second refund gives the whole credit back again",
        "returned_hours = returned_hours + back.gpu_hours",
        "returned_hours = returned_hours",
        "G154",
      ],
    ],
  },
  {
    file: "payments/credits/redeem-voucher.ts",
    tests: vouchers,
    rows: [
      ["two redeem one code at once", "} for update`.execute", "}`.execute", "two requests at once"],
      ["a revoked code brings a credit", "if (voucher.revoked)", "if (false)", "revoked"],
      ["a month has one code more", " >= per_month)", " > per_month)", "no more in a month"],
    ],
  },
  {
    file: "environments/mining/record-finding.ts",
    tests: detector,
    rows: [
      ["what is not certain ends an environment", " || !isCertain", "", "never ends by itself"],
      ["a miner ends without MINING=stop", 'deps.mode !== "stop" || ', "", "shown to a person first"],
    ],
  },
  {
    file: "environments/mining/start-mining-detector.ts",
    tests: detector,
    rows: [
      ["one look is enough", "before?.has(key)", "true", "one look"],
      ["a busy kernel is no excuse", "idleSeconds < quietMinutes * 60", "idleSeconds < 0", "busy kernel"],
    ],
  },
];
