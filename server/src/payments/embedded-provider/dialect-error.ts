/** A refusal in the provider's own shape: `{error: {code, description, source, step, reason, metadata}}`. */
export class DialectError extends Error {
  readonly httpStatus: number;
  readonly body: { readonly error: Readonly<Record<string, unknown>> };

  constructor(
    description: string,
    { httpStatus = 400, code = "BAD_REQUEST_ERROR", ...details }: { httpStatus?: number; code?: string } & Details = {},
  ) {
    super(description);
    this.name = "DialectError";
    this.httpStatus = httpStatus;
    const standard = {
      field: null,
      source: "business",
      step: "payment_initiation",
      reason: "input_validation_failed",
      metadata: {},
    };
    this.body = { error: { code, description, ...standard, ...details } };
  }
}

interface Details {
  /** The invalid field of the request. */
  readonly field?: string | null;
  readonly source?: string;
  readonly step?: string;
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}
