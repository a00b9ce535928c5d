import type { profile, ReplyOf } from "@berth/contract";
import { type Environment, environmentsOf } from "../environments/lifecycle/environment.ts";

/** Undefined where the server does not know it (G303). */
export type Usage = ReplyOf<typeof profile>["usage"] | undefined;

export interface DashboardFigures {
  readonly total: number;
  readonly active: number;
  readonly starting: number;
  /** Booked hours of delivered environments (G24), one decimal. */
  readonly usageHours: number;
  /** GPUs of running environments. */
  readonly gpus: number;
}

export const recentCount = 5;

/** Newest first. */
export function newest(containers: Parameters<typeof environmentsOf>[0]): readonly Environment[] {
  return environmentsOf(containers).toSorted((a, b) => createdAt(b) - createdAt(a) || a.id.localeCompare(b.id));
}

export function dashboardFigures(all: readonly Environment[]): DashboardFigures {
  const active = all.filter(({ status }) => status === "active");
  const hours = all.filter(wasDelivered).reduce((sum, { duration_hours }) => sum + duration_hours, 0);
  return {
    total: all.length,
    active: active.length,
    starting: all.filter(({ status }) => status === "pending").length,
    usageHours: Math.round(hours * 10) / 10,
    gpus: active.reduce((sum, { gpu_count }) => sum + gpu_count, 0),
  };
}

/** The second sentence of the welcome: numbers of running and starting environments. */
export function summaryOf({ total, active, starting }: DashboardFigures): string {
  if (total === 0) return "Nothing is running. Your first environment takes about 30 seconds.";
  if (active + starting === 0) return "Nothing is running.";
  const running = `${counted(active)} running`;
  if (starting === 0) return `${running}.`;
  const startingWords = active === 0 ? `${counted(starting)} starting` : `${number(starting)} ${be(starting)} starting`;
  return active === 0 ? `${startingWords}.` : `${running}, ${startingWords.toLowerCase()}.`;
}

/** Measured; without a measurement, of the booked hours. */
export function averageSeconds(all: readonly Environment[], usage: Usage): number | null {
  if (usage) return usage.average_session_seconds;
  const delivered = all.filter(wasDelivered);
  const hours = delivered.reduce((sum, { duration_hours }) => sum + duration_hours, 0);
  return delivered.length === 0 ? null : (hours * 3_600) / delivered.length;
}

/** "9.3 h", "25 min", or "N/A" without a session (G33). */
export function sessionLength(seconds: number | null): string {
  if (seconds === null) return "N/A";
  if (seconds < 3_600) return `${Math.max(1, Math.round(seconds / 60))} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

/** "61%", or "N/A" without a GPU or a sample (G33). */
export function utilization(percent: number | null): string {
  return percent === null ? "N/A" : `${Math.round(percent)}%`;
}

/** An unreadable date is the oldest, as in the list. */
function createdAt({ created_at }: Environment): number {
  return Date.parse(created_at) || 0;
}

function wasDelivered({ status, ended_reason }: Environment): boolean {
  return status !== "pending" && !["cancelled", "not_delivered", "silent"].includes(ended_reason ?? "");
}

function counted(count: number): string {
  return `${number(count)} environment${count === 1 ? "" : "s"} ${be(count)}`;
}

function be(count: number): string {
  return count === 1 ? "is" : "are";
}

const words = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

function number(count: number): string {
  return words[count] ?? String(count);
}
