import { vi } from "vitest";
import { jupyterSuite } from "../testing/jupyter.suite.ts";
import { openKubernetesMachine, whyNoKubernetes } from "../testing/kubernetes-machine.ts";

vi.setConfig({ testTimeout: 240_000 });

jupyterSuite("inside a pod", () => openKubernetesMachine(), await whyNoKubernetes());
