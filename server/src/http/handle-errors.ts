import { type ErrorCode, type ErrorReply, errorStatus } from "@berth/contract";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import { isLostConnection } from "../database/connection.ts";

/**
 * Renders every refusal as an `ErrorReply` (CONTRIBUTING 4); an unexpected error is logged and becomes a 500 without
 * internals.
 */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const refusal = error instanceof AppError ? error : (outageOf(error) ?? refusalOf(error));
    if (!refusal) {
      request.log.error(error);
      return reply.code(500).send(wire(new AppError("internal", `Something went wrong on our side (${request.id})`)));
    }
    if (errorStatus[refusal.code] >= 500) request.log.warn(refusal.cause ?? refusal);
    if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
    return reply.code(errorStatus[refusal.code]).send(wire(refusal));
  });
}

/** For a URL that cannot be decoded: it matches no route, so neither hooks nor the error handler run. */
export function refuseAddress(_: FastifyError, __: FastifyRequest, reply: FastifyReply): void {
  const refusal = new AppError("invalid_request", "This address is not valid");
  void reply.code(errorStatus[refusal.code]).send(wire(refusal));
}

/** A database outage is a 503: the client may retry. */
function outageOf(cause: unknown): AppError | undefined {
  if (!isLostConnection(cause)) return undefined;
  return new AppError("unavailable", "The database does not answer. Try again in a moment.", {
    cause,
    retryAfterSeconds: 5,
  });
}

/** 4xx errors of Fastify and its plugins. */
function refusalOf(error: FastifyError): AppError | undefined {
  const { statusCode = 500 } = error;
  if (statusCode < 400 || statusCode > 499) return undefined;
  const byStatus: Readonly<Record<number, ErrorCode>> = {
    404: "not_found",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
  };
  return new AppError(byStatus[statusCode] ?? "invalid_request", error.message, { cause: error });
}

export function wire({ code, message, money }: AppError): ErrorReply {
  return { status: "error", code, message, detail: message, ...(money && { money }) };
}
