import { expect, test } from "vitest";
import { createHostNames } from "./host-names.ts";

test("on one machine every loopback name is the app, and every subdomain of localhost an environment", () => {
  const hosts = createHostNames({ appUrl: "http://localhost:3000", envHost: "localhost" });
  for (const app of ["localhost:3000", "127.0.0.1:3000", "[::1]:3000", "LOCALHOST"])
    expect([app, hosts.kindOf(app)]).toEqual([app, "app"]);
  expect(hosts.kindOf("a.localhost:3000")).toBe("environment");
  for (const foreign of [undefined, "", "evil.test", "127.0.0.2", "0.0.0.0:3000", "localhost.evil.test"])
    expect([foreign, hosts.kindOf(foreign)]).toEqual([foreign, "foreign"]);
  expect(hosts.environmentUrl("a")).toBe("http://a.localhost:3000");
  expect(hosts.secure).toBe(false);
});

test("in public the app's host takes precedence over subdomains, and loopback names are the app too", () => {
  const hosts = createHostNames({ appUrl: "https://app.berth.test", envHost: "berth.test" });
  expect(hosts.kindOf("app.berth.test")).toBe("app");
  expect(hosts.labelOf("app.berth.test")).toBeUndefined();
  expect(hosts.labelOf("Mine.berth.test:443")).toBe("mine");
  expect(hosts.labelOf("a.b.berth.test")).toBe("");
  expect(hosts.kindOf("127.0.0.1:3000")).toBe("app");
  for (const foreign of ["berth.test", "127.0.0.2", "xberth.test"])
    expect([foreign, hosts.kindOf(foreign)]).toEqual([foreign, "foreign"]);
  expect(hosts.environmentUrl("a")).toBe("https://a.berth.test");
});
