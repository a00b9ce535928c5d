import { expect, test } from "vitest";
import { parseAddress, parseHomeRoot, parsePrivateAddress } from "./remote-address.ts";

test("an engine over TLS and one over SSH, with their usual ports and socket", () => {
  expect(parseAddress("tcp+tls://gpu-1.example")).toMatchObject({ kind: "tls", host: "gpu-1.example", port: 2376 });
  expect(parseAddress("tcp+tls://[fd00::1]:9000")).toMatchObject({ kind: "tls", host: "fd00::1", port: 9000 });
  expect(parseAddress("ssh://berth@10.0.0.5")).toMatchObject({
    user: "berth",
    port: 22,
    socketPath: "/var/run/docker.sock",
  });
  expect(parseAddress("ssh://berth@gpu:2222/run/user/1000/docker.sock")).toMatchObject({
    port: 2222,
    socketPath: "/run/user/1000/docker.sock",
  });
});

test.for(["tcp://10.0.0.5:2375", "http://10.0.0.5:2375"])("%s is plain TCP: refused in one sentence", (text) => {
  expect(() => parseAddress(text)).toThrow(/^\S+ is plain TCP, .* use tcp\+tls:\/\/ or ssh:\/\/$/);
});

test.for([
  "",
  "gpu-1",
  "unix:///var/run/docker.sock",
  "https://gpu-1:2376",
  "ssh://gpu-1",
  "ssh://berth:secret@gpu-1",
  "ssh://-oProxyCommand=x@gpu-1",
  "ssh://berth@-oProxyCommand=x",
  "ssh://berth@gpu-1/run/a b.sock",
  "ssh://berth@gpu-1/run/x:/etc",
  "ssh://berth@gpu-1?x",
  "tcp+tls://user@gpu-1",
  "tcp+tls://gpu-1/path",
])("%s is no address of an engine", (text) => {
  expect(() => parseAddress(text)).toThrow(
    "is no address of an engine: ssh://user@host[:port] or tcp+tls://host[:port]",
  );
});

test("runs are reached at a private address only", () => {
  const byName = parseAddress("tcp+tls://gpu-1.example");
  const byNumber = parseAddress("tcp+tls://10.0.0.5");
  expect([
    parsePrivateAddress(undefined, byNumber),
    parsePrivateAddress("192.168.1.2", byName),
    parsePrivateAddress("fd00::7", byName),
  ]).toEqual(["10.0.0.5", "192.168.1.2", "fd00::7"]);
  expect(() => parsePrivateAddress(undefined, byName)).toThrow("gpu-1.example is a name: say with --reach");
  for (const open of ["0.0.0.0", "::", "203.0.113.7", "2001:db8::1"])
    expect(() => parsePrivateAddress(open, byName)).toThrow(`${open} is no private address`);
});

test("the folder of homes is an absolute path of at least two parts", () => {
  expect(parseHomeRoot("/var/lib/berth/homes")).toBe("/var/lib/berth/homes");
  for (const text of ["homes", "/", "/homes", "/var/../etc", "/var/lib:/etc", "/var/lib/"])
    expect(() => parseHomeRoot(text)).toThrow("is no folder for homes");
});
