import { plural } from "@berth/contract";
/** "20 GPU-hours", "1 GPU-hour", "1.25 GPU-hours". */
export function gpuHoursText(gpuHours: number): string {
  return plural(gpuHours, "GPU-hour");
}
