import type { SupportSettings } from "./support.ts";

/** Defaults until the settings are loaded. */
export const defaultSupport: SupportSettings = {
  telegram: "",
  prefill: true,
  codePrefix: "BRT",
  online: true,
  responseTime: "Usually within 1 hour",
};

/**
 * `BRT-41d07b-4821`: prefix, first 6 characters of the user id, last 4 digits of the time (spec 3.8, G81). A label, not
 * a key (G60).
 */
export function supportCode(prefix: string, userId: string, atMs: number): string {
  return `${prefix}-${userId.slice(0, 6)}-${String(Math.trunc(atMs)).padStart(4, "0").slice(-4)}`;
}

/** Whether the code has this user's prefix. */
export function isSupportCode(code: string, prefix: string, userId: string): boolean {
  const start = supportCode(prefix, userId, 0).slice(0, -4);
  return code.startsWith(start) && /^\d{4}$/.test(code.slice(start.length));
}

export interface ChatMessage {
  readonly code: string;
  /** Empty: "Not available". */
  readonly email: string;
  readonly topic?: string;
  readonly description?: string;
}

/** The prefilled chat message. */
export function chatText({ code, email, topic, description }: ChatMessage): string {
  return [
    `Support code: ${code}`,
    `Email: ${email || "Not available"}`,
    ...(topic ? [`Topic: ${topic}`] : []),
    ...(description?.trim() ? ["", description.trim()] : []),
  ].join("\n");
}

/**
 * The Telegram URL that opens the chat with a prefilled message, without a server call (G59). Without an account of the
 * operator, Telegram asks for the recipient; such a share link requires `pageUrl`.
 */
export function chatUrl({ telegram, prefill }: SupportSettings, text: string, pageUrl: string): string {
  // encodeURIComponent throws on a lone surrogate, such as half an emoji.
  const message = encodeURIComponent(text.toWellFormed());
  if (telegram === "") return `https://t.me/share/url?url=${encodeURIComponent(pageUrl)}&text=${message}`;
  return `https://t.me/${telegram}${prefill ? `?text=${message}` : ""}`;
}
