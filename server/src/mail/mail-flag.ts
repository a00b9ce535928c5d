import type { Flags } from "@berth/contract";

/** The user's flag that decides whether a kind of notice is mailed (G49); `always` for what nobody may miss (G69). */
const flags = {
  answer: "always",
  /** It runs again after its machine had failed. */
  back: "emailNotifications",
  banked: "emailNotifications",
  bonus: "emailNotifications",
  /** Of GPU-hours: granted, come back, revoked. */
  credit: "emailNotifications",
  "credit-revoked": "emailNotifications",
  dispute: "billingAlerts",
  "dispute-over": "billingAlerts",
  disputed: "billingAlerts",
  /** Nothing runs any more, for an owner who waits for that. */
  done: "emailNotifications",
  drain: "emailNotifications",
  ended: "emailNotifications",
  expires: "emailNotifications",
  extended: "emailNotifications",
  /** Files from before a fresh start, which can be reached again. */
  former: "emailNotifications",
  full: "emailNotifications",
  /** A new run, because the GPUs of the last one did not respond. */
  gpu: "emailNotifications",
  home: "emailNotifications",
  idle: "emailNotifications",
  "idle-stopped": "emailNotifications",
  lost: "emailNotifications",
  machine: "emailNotifications",
  /** Files that are on another host now. */
  moved: "emailNotifications",
  /** A sign-in from a browser that was not used for 90 days. */
  "new-browser": "securityAlerts",
  news: "emailNotifications",
  "no-home": "emailNotifications",
  "operator-ended": "always",
  "operator-stopped": "emailNotifications",
  /** Added, removed, or perhaps copied. */
  passkey: "always",
  "password-changed": "securityAlerts",
  /** A raise, 30 days before it begins. */
  prices: "always",
  ready: "emailNotifications",
  /** Sent again because its owner asked for it. */
  receipt: "always",
  refund: "billingAlerts",
  "refund-declined": "billingAlerts",
  "refund-returned": "billingAlerts",
  refunded: "billingAlerts",
  /** A new run, because the last one ran out of memory or was ended by its machine. */
  restarted: "emailNotifications",
  /** Turned on or off, or a recovery code was used. */
  "second-factor": "always",
  session: "emailNotifications",
  "sign-in-copied": "securityAlerts",
  /** Another provider's account was connected, or no longer is. */
  "sign-in-link": "always",
  silent: "emailNotifications",
  /** A public SSH key was added. */
  "ssh-key": "always",
  suspended: "always",
  "suspension-lifted": "always",
  /** A change of the terms, 30 days before it begins. */
  terms: "always",
  turn: "emailNotifications",
  "turn-lapsed": "emailNotifications",
  warned: "always",
} as const satisfies Readonly<Record<string, keyof Flags | "always">>;

type NoticeKind = keyof typeof flags;

/** Idempotency key of a notice, such as `ready:{environment}`: written once for each user and cause. */
export type NoticeCause = `${NoticeKind}:${string}`;

export function mailFlag(cause: NoticeCause): keyof Flags | "always" {
  return flags[cause.slice(0, cause.indexOf(":")) as NoticeKind];
}
