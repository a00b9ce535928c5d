import { vi } from "vitest";
import { openDockerMachine, whyNoDocker } from "./docker-testing.ts";
import { insideSuite } from "./driver-inside.suite.ts";

vi.setConfig({ testTimeout: 120_000 });

insideSuite("inside a container", async () => openDockerMachine(), await whyNoDocker());
