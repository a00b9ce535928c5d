import { once } from "node:events";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createArrivals } from "./arrivals.ts";

const end = async (socket: Socket) => {
  const closed = once(socket, "close");
  socket.destroy();
  await closed;
};

test("G405 ten wrong signatures a minute from one address; a sign-in forgets them", () => {
  const arrivals = createArrivals();
  const [one, other] = [new Socket(), new Socket()];
  const arrival = arrivals.arrive(one, "192.0.2.1");
  const tries = Array.from({ length: 12 }, () => {
    const may = arrival?.mayTry();
    arrival?.onWrongKey();
    return may;
  });
  expect(tries).toEqual([...Array(10).fill(true), false, false]);
  expect(arrivals.arrive(other, "192.0.2.2")?.mayTry()).toBe(true);
  arrival?.onSignIn();
  expect(arrival?.mayTry()).toBe(true);
  for (const socket of [one, other]) socket.destroy();
  arrivals.close();
});

test("G405 of one address, fifty that sign at the same time by a right key are all let in", () => {
  const arrivals = createArrivals();
  const sockets = Array.from({ length: 50 }, () => new Socket());
  const all = sockets.map((socket) => arrivals.arrive(socket, "192.0.2.1"));
  expect(all.filter((each) => each?.mayTry())).toHaveLength(50);
  for (const socket of sockets) socket.destroy();
  arrivals.close();
});

test("G405 those who have not signed in are limited for each address and in all, and make room when they sign in or go", async () => {
  const arrivals = createArrivals();
  const sockets: Socket[] = [];
  const arrive = (address: string | undefined) => {
    const socket = new Socket();
    sockets.push(socket);
    return arrivals.arrive(socket, address);
  };
  const first = arrive("192.0.2.1");
  for (let count = 1; count < 60; count++) expect(arrive("192.0.2.1")).toBeDefined();
  expect(arrive("192.0.2.1")).toBe(undefined);
  first?.onSignIn();
  expect(arrive("192.0.2.1")).toBeDefined();
  // By a load balancer there is no address to count.
  for (let count = 60; count < 200; count++) expect(arrive(undefined)).toBeDefined();
  expect(arrive("192.0.2.3")).toBe(undefined);
  await end(sockets.at(-2) as Socket);
  expect(arrive("192.0.2.3")).toBeDefined();
  for (const socket of sockets) if (!socket.destroyed) await end(socket);
  for (let count = 0; count < 60; count++) expect(arrive("192.0.2.1")).toBeDefined();
  for (const socket of sockets) socket.destroy();
  arrivals.close();
});
