import { plural } from "@berth/contract";
/** Formats minor units: "$2.40", "₹212" (G9). Whole rupees have no decimals (G8). Every currency has hundredths. */
export function money(minor: number, currency: string): string {
  return currency === "INR" ? rupees(minor) : decimal(minor, currency, 2);
}

/** Without cents if they are zero: "$280". */
export function moneyShort(minor: number, currency: string): string {
  return currency === "INR" ? rupees(minor) : decimal(minor, currency, minor % 100 === 0 ? 0 : 2);
}

/** A rate in major units: "₹88.22". */
export function rateText(rate: number, currency: string): string {
  return money(Math.round(rate * 100), currency);
}

/** "1, 2 and 4", "1, 2 or 4". */
export function listed(items: readonly (string | number)[], type: "conjunction" | "disjunction"): string {
  return new Intl.ListFormat("en-GB", { type }).format(items.map(String));
}

/** "Nov 20, 2026" in the viewer's zone; "Invalid Date" for an invalid one (spec 8.10, G67). */
export function date(iso: string | null): string {
  return written(iso, { month: "short", day: "numeric", year: "numeric" });
}

/** "January 31, 2027" of "2027-01-31": the calendar day, independent of the reader's zone. */
export function longDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleString("en-US", { dateStyle: "long", timeZone: "UTC" });
}

/** "Nov 20, 2:52 PM" in the viewer's zone, with the year if it is not this one. */
export function dateTime(iso: string | null, now: number = Date.now()): string {
  const year = iso !== null && new Date(iso).getFullYear() === new Date(now).getFullYear() ? {} : yearToo;
  return written(iso, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit", ...year });
}

const yearToo = { year: "numeric" } as const;

/** "2h 56m left", "Expired", or "Unknown" without a readable end (spec 8.10). `now` in ms since the epoch. */
export function timeLeft(expiresAt: string | null | undefined, now: number): string {
  const leftMs = expiresAt ? Date.parse(expiresAt) - now : Number.NaN;
  if (Number.isNaN(leftMs)) return "Unknown";
  return leftMs <= 0 ? "Expired" : `${duration(leftMs / 1000)} left`;
}

/** "3d 4h", "2h 56m", "56m", "under 1m". */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes % 60}m`;
  return minutes > 0 ? `${minutes}m` : "under 1m";
}

/** "2 hours", or "1h 20m" for a fraction. */
export function hoursText(hours: number): string {
  return Number.isInteger(hours) ? plural(hours, "hour") : duration(hours * 3600);
}

/** "4.2 s". */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The subdomain, or "Container-" with the first 8 characters of the id (spec 3.2). */
export function environmentName(id: string, subdomain: string): string {
  return subdomain === "" ? `Container-${id.slice(0, 8)}` : subdomain;
}

/** The URL of an environment. `template` is from `GET /config` and contains `{subdomain}`. */
export function environmentAddress(template: string, subdomain: string): string {
  return template.replace("{subdomain}", subdomain);
}

/** The host name with its port, without the scheme; an empty subdomain gives the suffix. `template` is from `GET /config`. */
export function hostName(template: string, subdomain: string): string {
  return environmentAddress(template, subdomain)
    .replace(/^https?:\/\//, "")
    .replace(/\/$/, "");
}

/** A path without slashes at its end, as the titles and texts of pages are listed. */
export function plainPath(path: string): string {
  return `/${path.split("/").filter(Boolean).join("/")}`;
}

/** "512 KB", "12.3 MB", "4.20 GB", in decimal units. Null while it is being measured. */
export function sizeText(megabytes: number | null): string {
  if (megabytes === null) return "Measuring...";
  if (megabytes < 1) return `${Math.ceil(megabytes * 1000)} KB`;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(2)} GB`;
}

function decimal(minor: number, currency: string, digits: number): string {
  return (minor / 100).toLocaleString("en-US", {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function rupees(paise: number): string {
  const digits = paise % 100 === 0 ? 0 : 2;
  return `₹${(paise / 100).toLocaleString("en-IN", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

function written(iso: string | null, shape: Intl.DateTimeFormatOptions): string {
  const at = iso === null ? new Date(Number.NaN) : new Date(iso);
  return Number.isNaN(at.getTime()) ? "Invalid Date" : at.toLocaleString("en-US", shape);
}
