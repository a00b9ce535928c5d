// npm run prove -- NAME: one command per section of docs/proof.md.
import { parseArgs } from "node:util";
import { buildServer } from "../scripts/setup.mjs";
import { proveAccess } from "./access.ts";
import { proveCapacity } from "./capacity.ts";
import { proveConnect } from "./connect.ts";
import { proveCrash } from "./crash.ts";
import { proveDeploy } from "./deploy.ts";
import { proveFaults } from "./faults.ts";
import { proveFuzz } from "./fuzz.ts";
import { proveGateways } from "./gateways.ts";
import { proveHomes } from "./homes.ts";
import { proveHostile } from "./hostile.ts";
import { proveInstall } from "./install.ts";
import { proveMoney } from "./money.ts";
import { proveMutation } from "./mutation.ts";
import { proveNodeLoss } from "./node-loss.ts";
import { provePodIsolation } from "./pod-isolation.ts";
import { provePoints } from "./points.ts";
import { proveReplicas } from "./replicas.ts";
import { proveRestore } from "./restore.ts";
import { proveTrouble } from "./trouble.ts";
import { proveUpgrade } from "./upgrade.ts";

interface Options {
  readonly rounds: number;
  readonly seed: number;
  readonly minutes: number;
  readonly scenarios: number;
  readonly requests: number;
  readonly only: readonly number[];
  readonly files: readonly string[];
  readonly docker: boolean;
  readonly quick: boolean;
  readonly from: string;
  readonly node: string;
  readonly stop: string;
  readonly start: string;
}

const proofs: Readonly<Record<string, (options: Options) => Promise<void>>> = {
  access: proveAccess,
  capacity: proveCapacity,
  connect: proveConnect,
  crash: proveCrash,
  deploy: proveDeploy,
  faults: proveFaults,
  fuzz: proveFuzz,
  gateways: proveGateways,
  homes: proveHomes,
  hostile: proveHostile,
  install: proveInstall,
  money: proveMoney,
  mutation: proveMutation,
  "node-loss": proveNodeLoss,
  "pod-isolation": provePodIsolation,
  points: provePoints,
  replicas: proveReplicas,
  restore: proveRestore,
  trouble: proveTrouble,
  upgrade: proveUpgrade,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "10" },
    scenarios: { type: "string", default: "12000" },
    requests: { type: "string", default: "100000" },
    only: { type: "string", multiple: true, default: [] },
    file: { type: "string", multiple: true, default: [] },
    docker: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    // The last commit of 0.1.0.
    from: { type: "string", default: "ecbd5bc" },
    node: { type: "string", default: "n2" },
    stop: { type: "string", default: "" },
    start: { type: "string", default: "" },
  },
});
const proof = proofs[positionals[0] ?? ""];
if (!proof) {
  console.error(
    `npm run prove -- ${Object.keys(proofs).join(" | ")} [--rounds N] [--seed N] [--minutes M] [--scenarios N] [--requests N] [--only N]... [--file PATH]... [--docker] [--quick] [--from COMMIT] [--node NAME --stop COMMAND --start COMMAND]`,
  );
  process.exit(2);
}
buildServer();
await proof({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  scenarios: Number(values.scenarios),
  requests: Number(values.requests),
  only: values.only.map(Number),
  files: values.file,
  docker: values.docker,
  quick: values.quick,
  from: values.from,
  node: values.node,
  stop: values.stop,
  start: values.start,
});
