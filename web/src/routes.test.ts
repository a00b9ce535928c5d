import { appPaths } from "@berth/contract";
import type { RouteObject } from "react-router";
import { expect, test } from "vitest";
import { routes } from "./routes.tsx";

function pathsOf(list: readonly RouteObject[]): string[] {
  return list.flatMap(({ path, children = [] }) => [...(path ? [path] : []), ...pathsOf(children)]);
}

test("the server knows every page of the app, so that it answers 404 for all others (G117)", () => {
  const drawn = pathsOf(routes).filter((path) => path !== "*");
  expect(drawn.sort()).toEqual([...appPaths].sort());
});
