interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: unknown;
  readonly stack?: string;
  readonly cause?: SerializedError;
}

/** Nothing but these fields: PostgreSQL's `detail`, for one, quotes the row with its address. */
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

/** Several addresses that refuse a connection are an AggregateError without a message. */
function messageOf(error: Error): string {
  if (error.message || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join("; ");
}
