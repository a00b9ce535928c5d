let waiting: (() => void)[] = [];

/**
 * Batches writes at the end of this turn of the event loop, in order. A peer that gets several requests in one turn then
 * wakes up once; a write between reads would wake it each time, which costs a tenth of a request's CPU or more.
 */
export function atTurnEnd(send: () => void): void {
  if (waiting.push(send) === 1) setImmediate(sendAll);
}

function sendAll(): void {
  const all = waiting;
  waiting = [];
  for (const send of all) send();
}
