import { ApiError } from "../api/api-error.ts";

/** Spec 8.3. */
export const settingsUpdated = "Settings updated successfully";
export const passwordFailed = "Error updating password...";

/** The text for a refusal or for a network error (G80). */
export function profileFailure(error: unknown): string {
  return error instanceof ApiError && error.status > 0 ? "Failed to update user settings" : passwordFailed;
}
