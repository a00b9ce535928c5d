import { plural } from "@berth/contract";
import { expect, test } from "vitest";
import {
  date,
  dateTime,
  duration,
  environmentAddress,
  environmentName,
  hostName,
  money,
  moneyShort,
  sizeText,
  timeLeft,
} from "./format.ts";

const now = Date.parse("2026-11-20T12:00:00Z");

test.each([
  ["2026-11-20T14:56:30Z", "2h 56m left"],
  ["2026-11-20T13:00:00Z", "1h 0m left"],
  ["2026-11-20T12:59:59Z", "59m left"],
  ["2026-11-20T12:00:01Z", "under 1m left"],
  ["2026-11-20T12:00:00Z", "Expired"],
  ["2026-11-19T12:00:00Z", "Expired"],
  ["2026-12-18T11:00:00Z", "27d 23h left"],
  ["next week", "Unknown"],
  ["", "Unknown"],
  [null, "Unknown"],
  [undefined, "Unknown"],
])("time left until %s is %s", (expiresAt, text) => {
  expect(timeLeft(expiresAt, now)).toBe(text);
});

test("durations omit insignificant units", () => {
  expect(duration(59)).toBe("under 1m");
  expect(duration(60)).toBe("1m");
  expect(duration(86_400)).toBe("1d 0h");
});

test("money comes from minor units", () => {
  expect(money(20, "USD")).toBe("$0.20");
  expect(money(120_000, "USD")).toBe("$1,200.00");
  expect(moneyShort(120_000, "USD")).toBe("$1,200");
  expect(moneyShort(75, "USD")).toBe("$0.75");
  expect(money(1_800, "INR")).toBe("₹18");
  expect(money(10_586_400, "INR")).toBe("₹1,05,864");
});

test("dates are in en-US, and an invalid one is Invalid Date", () => {
  expect(date("2026-11-20T12:00:00Z")).toBe("Nov 20, 2026");
  expect(date("soon")).toBe("Invalid Date");
  expect(date(null)).toBe("Invalid Date");
  expect(dateTime("2026-11-20T12:00:00", now)).toBe("Nov 20, 12:00 PM");
  expect(dateTime("2025-11-20T12:00:00", now)).toBe("Nov 20, 2025, 12:00 PM");
  expect(dateTime("soon", now)).toBe("Invalid Date");
});

test("an environment without a subdomain is named after its id", () => {
  expect(environmentName("9f3c1ab27d40", "resnet-lab")).toBe("resnet-lab");
  expect(environmentName("9f3c1ab27d40", "")).toBe("Container-9f3c1ab2");
  expect(environmentAddress("http://{subdomain}.localhost:3000", "a-b")).toBe("http://a-b.localhost:3000");
  expect(plural(1, "GPU")).toBe("1 GPU");
  expect(plural(0, "GPU")).toBe("0 GPUs");
});

test.each([
  ["2024-02-29T12:00:00Z", "Feb 29, 2024"],
  ["2026-13-01T00:00:00Z", "Invalid Date"],
  ["", "Invalid Date"],
  ["2026-12-31T12:00:00Z", "Dec 31, 2026"],
])("the date %s is written %s", (iso, text) => {
  expect(date(iso)).toBe(text);
});

test("the year is shown only if it differs from this one, in the viewer's zone", () => {
  const lastMinute = new Date(2026, 11, 31, 23, 59).toISOString();
  const firstMinute = new Date(2027, 0, 1, 0, 1).toISOString();
  const newYear = new Date(2027, 0, 1, 0, 0).getTime();
  expect(dateTime(lastMinute, newYear)).toBe("Dec 31, 2026, 11:59 PM");
  expect(dateTime(firstMinute, newYear)).toBe("Jan 1, 12:01 AM");
});

test("remaining hours are exact across a change to summer or winter time", () => {
  // In New York the clocks went back on 2026-11-01 at 06:00 UTC and forward on 2026-03-08 at 07:00 UTC.
  expect(timeLeft("2026-11-01T12:00:00Z", Date.parse("2026-11-01T00:00:00Z"))).toBe("12h 0m left");
  expect(timeLeft("2026-03-08T12:00:00Z", Date.parse("2026-03-08T00:00:00Z"))).toBe("12h 0m left");
  expect(timeLeft("2028-03-01T00:00:00Z", Date.parse("2028-02-28T00:00:00Z"))).toBe("2d 0h left");
});

test("money: zero, negative, millions, and fractions of a rupee", () => {
  expect([money(0, "USD"), money(-40, "USD"), money(123_456_789, "USD")]).toEqual(["$0.00", "-$0.40", "$1,234,567.89"]);
  expect([money(0, "INR"), money(1_850, "INR")]).toEqual(["₹0", "₹18.50"]);
  expect([moneyShort(0, "USD"), moneyShort(28_000, "USD")]).toEqual(["$0", "$280"]);
});

test("the host of a subdomain, and the suffix", () => {
  expect(hostName("http://{subdomain}.localhost:3000", "lab")).toBe("lab.localhost:3000");
  expect(hostName("https://{subdomain}.berth.example/", "lab")).toBe("lab.berth.example");
  expect(hostName("http://{subdomain}.localhost:3000", "")).toBe(".localhost:3000");
});

test.each([
  [null, "Measuring..."],
  [0, "0 KB"],
  [5e-6, "1 KB"],
  [0.512, "512 KB"],
  [1, "1.0 MB"],
  [999.94, "999.9 MB"],
  [1000, "1.00 GB"],
  [45_678, "45.68 GB"],
])("%s megabytes are %s", (megabytes, text) => {
  expect(sizeText(megabytes)).toBe(text);
});
