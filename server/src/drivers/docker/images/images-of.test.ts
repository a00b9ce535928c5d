import { defaultCatalogue as catalogue } from "@berth/contract";
import { expect, test } from "vitest";
import { checkoutRecord, currentImage } from "./image-catalogue.ts";
import { imagesOf } from "./images-of.ts";

const kubernetes = { images: { jupyter: "registry.example/berth/jupyter:1.2" } } as unknown as Parameters<
  typeof imagesOf
>[0]["kubernetes"];

const given = { catalogue, kubernetes, dataDir: "/nowhere" };

test("G204 a Docker host beside a cluster starts the image of the cluster's nodes, and elsewhere the one that was prepared here", async () => {
  expect(await imagesOf({ ...given, runtime: "kubernetes" })("jupyter")).toBe(kubernetes.images["jupyter"]);
  expect(await imagesOf({ ...given, runtime: "docker" })("jupyter")).toBe(
    await currentImage("jupyter", checkoutRecord),
  );
});
