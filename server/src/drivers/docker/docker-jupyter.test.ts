import { vi } from "vitest";
import { openDockerMachine, whyNoDocker } from "../testing/docker-machine.ts";
import { jupyterSuite } from "../testing/jupyter.suite.ts";

vi.setConfig({ testTimeout: 120_000 });

jupyterSuite("inside a container", async () => openDockerMachine(), await whyNoDocker());
