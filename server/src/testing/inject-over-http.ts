import type { FastifyInstance } from "fastify";

/** The HTTP side of a started product as the tests of the app see it. */
export function injectOverHttp(base: string): Pick<FastifyInstance, "inject"> {
  const inject = async ({
    method,
    url,
    headers,
    payload,
  }: {
    method: string;
    url: string;
    headers: Record<string, string>;
    payload?: string;
  }) => {
    const answer = await fetch(`${base.replace("localhost", "127.0.0.1")}${url}`, {
      method,
      headers,
      body: payload ?? null,
    });
    const body = await answer.text();
    return { statusCode: answer.status, body, json: () => JSON.parse(body) };
  };
  return { inject } as unknown as Pick<FastifyInstance, "inject">;
}
