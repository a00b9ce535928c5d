import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { addCluster } from "../capacity/add-cluster.ts";
import { diagnose } from "./diagnose.ts";

test("an added cluster that cannot be used is one finding, with the sentence of its check", async () => {
  const { db } = await setupEnvironments();
  const folder = mkdtempSync(join(tmpdir(), "berth-clusters-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = readConfig({
    ...{ DATA_DIR: folder, KUBERNETES_CLIENTS: "10.0.0.0/8", KUBERNETES_IMAGES: "jupyter=example/jupyter:1" },
  });
  const host = { id: "a100", namespace: "berth", options: { nodeSelector: { pool: "a100" } } };
  await addCluster(db, host, { cluster: "one", nodes: ["n1"] }, { actor: "cli:test", reason: "" });
  const { findings } = await diagnose(db, config);
  expect(findings.find(({ kind }) => kind === "engine_unreachable")?.rows).toEqual([
    expect.stringMatching(/^a100: The kubeconfig \S+\/hosts\/a100\/kubeconfig cannot be read: ENOENT/),
  ]);
});
