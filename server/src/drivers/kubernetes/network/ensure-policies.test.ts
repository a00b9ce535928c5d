import { expect, test } from "vitest";
import { policyOf } from "./ensure-policies.ts";

test("a run answers the given networks on JupyterLab's port only", () => {
  const { spec } = policyOf("abc", "run", { clients: ["192.0.2.0/28"] });
  expect(spec?.policyTypes).toEqual(["Ingress", "Egress"]);
  expect(spec?.ingress).toEqual([
    { from: [{ ipBlock: { cidr: "192.0.2.0/28" } }], ports: [{ protocol: "TCP", port: 8888 }] },
  ]);
  const inside = policyOf("abc", "run", { clients: [] }).spec?.ingress;
  const podSelector = { matchLabels: { "app.kubernetes.io/name": "berth" } };
  expect(inside).toMatchObject([{ from: [{ podSelector }] }]);
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "shop" } };
  expect(policyOf("abc", "run", { clients: [], serverNamespace: "shop" }).spec?.ingress).toMatchObject([
    { from: [{ podSelector, namespaceSelector }] },
  ]);
});

test("a run reaches name servers and public addresses, without private ones, metadata and mail", () => {
  const [names, outside] = policyOf("abc", "run", { clients: [] }).spec?.egress ?? [];
  expect(names?.ports?.map(({ port }) => port)).toEqual([53, 53]);
  const [four] = outside?.to ?? [];
  expect(four?.ipBlock?.except).toEqual(expect.arrayContaining(["10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"]));
  const isOpen = (port: number) =>
    outside?.ports?.some((range) => {
      return range.protocol === "TCP" && Number(range.port) <= port && port <= Number(range.endPort);
    });
  expect([1, 24, 26, 443, 464, 466, 586, 588, 65_535].every(isOpen)).toBe(true);
  expect([25, 465, 587].some(isOpen)).toBe(false);
});

test("other pods of ours reach nothing and answer nobody", () => {
  expect(policyOf("abc", "files", { clients: [] }).spec).toMatchObject({ ingress: [], egress: [] });
});

test("G354 a run reaches no network of its cluster that has public addresses", () => {
  const closed = ["203.0.113.0/24", "2600:1f18:1::/80"];
  const [, outside] = policyOf("abc", "run", { clients: [], closed }).spec?.egress ?? [];
  const [four, six] = outside?.to?.map(({ ipBlock }) => ipBlock?.except ?? []) ?? [];
  expect([four?.at(-1), six?.at(-1)]).toEqual(closed);
  expect(four).not.toContain("2600:1f18:1::/80");
});
