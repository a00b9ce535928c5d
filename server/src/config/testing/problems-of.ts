import { readConfig } from "../config.ts";

export const testKeys = { RAZORPAY_KEY_ID: "rzp_test_abc", RAZORPAY_KEY_SECRET: "s" };

/** The problems in the message. */
export function problemsOf(source: Record<string, string | undefined>): string[] {
  try {
    readConfig(source);
    return [];
  } catch (error) {
    return String(error).split("\n  - ").slice(1);
  }
}
