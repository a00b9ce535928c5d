import type { FastifyRequest } from "fastify";

const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
/** A proxy on this machine also comes from loopback, but says for whom, if it says anything. */
const forwarded = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/** Whether whoever asks sits at this machine. */
export function isLocal({ socket, ip, headers }: FastifyRequest): boolean {
  if (forwarded.some((name) => headers[name] !== undefined)) return false;
  return loopback.test(socket.remoteAddress ?? "") && loopback.test(ip);
}
