interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  readonly stack?: string;
  readonly cause?: SerializedError;
}

/** An allow-list of fields: PostgreSQL's `detail`, for one, contains row values such as email addresses. */
export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name, stack, cause } = error;
  return {
    type: name,
    message: messageOf(error),
    ...("code" in error && { code: error.code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && { cause: serializeError(cause) }),
  };
}

/** A connection refused by several addresses is an AggregateError without a message. */
function messageOf(error: Error): string {
  if (error.message || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join("; ");
}
