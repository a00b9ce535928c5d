import type { ErrorCode, MoneyState } from "@berth/contract";

/**
 * A refusal of the server, or `network` when there was no reply (G45). Switch on `code`, show `message`
 * (CONTRIBUTING 4).
 */
export class ApiError extends Error {
  readonly code: ErrorCode | "network";
  /** HTTP status; 0 without a reply. Below 400 the refusal is in the body (G117). */
  readonly status: number;
  /** Where the buyer's money is, if the call was about money (G14). */
  readonly money: MoneyState | undefined;

  constructor(code: ErrorCode | "network", message: string, status: number, money?: MoneyState) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.money = money;
  }
}

type Body = Readonly<Partial<Record<string, unknown>>>;

/**
 * The refusal in a reply, by its HTTP status or by the body fields that spec 7 names for this call (G117); undefined if
 * there is none. Its message is empty where the server gave none: each screen has its own text for that (spec 8).
 */
export function apiErrorOf(path: string, status: number, reply: unknown): ApiError | undefined {
  const body = (typeof reply === "object" && reply !== null ? reply : {}) as Body;
  if (status < 400 && !isRefused(path, body)) return undefined;
  const code = typeof body["code"] === "string" ? (body["code"] as ErrorCode) : codeOf(path, status);
  const message = textOf(body["message"]) || textOf(body["detail"]);
  return new ApiError(code, message, status, body["money"] as MoneyState | undefined);
}

const validatePath = "/auth/validate";

/** For a reset mail only the HTTP status counts (spec 7). */
export function isStatusOnly(path: string): boolean {
  return path === "/auth/reset-password";
}

/** A launch returns the status of its environment (G72). */
const successStatuses: readonly unknown[] = ["success", "active", "pending"];

function isRefused(path: string, { status, success }: Body): boolean {
  // Only an explicit success is valid.
  if (path === validatePath) return status !== "success";
  if (isStatusOnly(path)) return false;
  if (typeof success === "boolean") return !success;
  return typeof status === "string" && !successStatuses.includes(status);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

/** Replies of others (a proxy's page, an empty body) become a code that the screens know. */
function codeOf(path: string, status: number): ErrorCode {
  if (status === 401 || (status < 400 && path === validatePath)) return "unauthenticated";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "unavailable";
  return "invalid_request";
}
