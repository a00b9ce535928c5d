import { type ErrorCode, type ErrorReply, errorStatus } from "@berth/contract";
import type { FastifyError, FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";

/** Renders every refusal in the one shape (R4); anything unexpected is a logged 500 that says nothing of the inside. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const refusal = error instanceof AppError ? error : refusalOf(error);
    if (!refusal) {
      request.log.error(error);
      return reply.code(500).send(wire(new AppError("internal", `Something went wrong on our side (${request.id})`)));
    }
    if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
    return reply.code(errorStatus[refusal.code]).send(wire(refusal));
  });
}

/** Fastify's own refusals of a request it could not read. */
function refusalOf(error: FastifyError): AppError | undefined {
  const byStatus: Readonly<Record<number, ErrorCode>> = {
    400: "invalid_request",
    404: "not_found",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
  };
  const code = byStatus[error.statusCode ?? 0];
  return code && new AppError(code, error.message, { cause: error });
}

export function wire({ code, message, money }: AppError): ErrorReply {
  return { status: "error", code, message, detail: message, ...(money && { money }) };
}
