// npm run prove -- NAME [--rounds N]: one command per promise of docs/proof.md.
import { parseArgs } from "node:util";
import { proveCrash } from "./crash.ts";

const proofs: Readonly<Record<string, (options: { rounds: number }) => Promise<void>>> = { crash: proveCrash };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "20" } },
});
const proof = proofs[positionals[0] ?? ""];
if (!proof) {
  console.error(`npm run prove -- ${Object.keys(proofs).join(" | ")} [--rounds N]`);
  process.exit(2);
}
await proof({ rounds: Number(values.rounds) });
