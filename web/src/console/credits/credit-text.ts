import { hoursOfCredit, plural } from "@berth/contract";
import { hoursText } from "../../format.ts";

/** "20 GPU-hours". */
export function gpuHoursText(gpuHours: number): string {
  return plural(gpuHours, "GPU-hour");
}

/** "20 hours with 1 GPU, 10 hours with 2". */
export function creditText(gpuHours: number): string {
  return `${hoursText(hoursOfCredit(gpuHours, 1))} with 1 GPU, ${hoursText(hoursOfCredit(gpuHours, 2))} with 2`;
}
