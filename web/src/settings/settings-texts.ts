import { ApiError } from "../api/api-error.ts";

/** Spec 8.3. */
export const settingsUpdated = "Settings updated successfully";
export const passwordFailed = "Error updating password...";

/** Refused, or no answer at all: the specification has two texts (G80). */
export function profileFailure(error: unknown): string {
  return error instanceof ApiError && error.status > 0 ? "Failed to update user settings" : passwordFailed;
}
