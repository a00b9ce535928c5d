import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";

test("a POST with a content type and neither a body nor its length is answered in one sentence", async () => {
  const { app } = await testApp();
  const { port } = new URL(app.listeningOrigin);
  const post = async (path: string, contentType: string) => {
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\nConnection: close\r\n\r\n`,
    );
    const [status = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    return { status: Number(status.split(" ")[1]), body };
  };
  const paths = ["/auth/signup", "/support/tickets", "/identity/v1/token?key=local", "/webhooks/razorpay"];
  for (const path of paths)
    for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
      const { status, body } = await post(path, type);
      expect([400, 401, 403, 404], `${path} ${type}: ${status} ${body}`).toContain(status);
      expect(body).toContain("message");
    }
});
