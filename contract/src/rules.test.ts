import { expect, test } from "vitest";
import { isEmail, passwordChecks, reservedSubdomains, subdomainProblem, texts } from "./rules.ts";

test("a subdomain is one DNS label of 3 to 40, lower case, not reserved (G36)", () => {
  for (const name of ["lab", "my-lab-2", "a1b", "0-0", "a".repeat(40)])
    expect([name, subdomainProblem(name)]).toEqual([name, undefined]);
  for (const name of [
    "ab",
    "a".repeat(41),
    "-lab",
    "lab-",
    "Lab",
    "my_lab",
    "my.lab",
    "läb",
    "lab\n",
    "xn--lab",
    "a b",
    "..",
    "lab\u0000",
  ])
    expect([name, subdomainProblem(name)]).toEqual([name, texts.subdomainForm]);
  for (const name of ["", " ", "\t\n"])
    expect(subdomainProblem(name)).toBe("Please enter a subdomain name to continue");
  for (const name of ["www", "api", "app", "admin", "mail"])
    expect(subdomainProblem(name)).toBe(texts.subdomainReserved);
  for (const name of reservedSubdomains) expect(subdomainProblem(name)).not.toBe(undefined);
});

test("an e-mail address has one @, a name and a dotted host", () => {
  for (const good of ["a@b.co", "first.last+tag@sub.example.org", "ü@exämple.de"])
    expect([good, isEmail(good)]).toEqual([good, true]);
  for (const bad of [
    "",
    "a",
    "a@b",
    "a@@b.co",
    "a b@c.de",
    "a@b..co",
    "@b.co",
    "a@b.co\u0000",
    `${"a".repeat(250)}@b.co`,
  ])
    expect([bad, isEmail(bad)]).toEqual([bad, false]);
});

test("the reset checklist (spec 5)", () => {
  const met = (password: string) => passwordChecks.map((check) => check.met(password));
  expect(met("")).toEqual([false, false, false, false, false]);
  expect(met("Abcdef1!")).toEqual([true, true, true, true, true]);
  expect(met("Abcdef1-")).toEqual([true, true, true, true, false]);
  expect(met("ABC1!")).toEqual([false, true, false, true, true]);
});
