import { vi } from "vitest";
import { openDockerMachine, whyNoDocker } from "../testing/docker-machine.ts";
import { insideSuite } from "../testing/jupyter.suite.ts";

vi.setConfig({ testTimeout: 120_000 });

insideSuite("inside a container", async () => openDockerMachine(), await whyNoDocker());
