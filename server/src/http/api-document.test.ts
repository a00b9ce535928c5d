import { defaultCatalogue } from "@berth/contract";
import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";
import { apiDocument } from "./api-document.ts";

test("the documentation describes exactly the operations that a running product describes", async () => {
  const { app } = await testApp();
  const { paths } = (await apiDocument(defaultCatalogue)) as { paths: object };
  expect(paths).toEqual((await app.inject("/openapi.json")).json().paths);
});

test("the documentation names no type of a catalogue, because every operator has their own", async () => {
  expect(JSON.stringify(await apiDocument())).not.toContain('jupyter"');
});
