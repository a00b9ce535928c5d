let waiting: (() => void)[] = [];

/**
 * Sends at the end of this turn of the event loop, in the order of the calls. A peer to which many requests of one turn
 * send is then woken once. Sent in between the reads, each wakes it again, which costs a tenth of a request's CPU, and
 * more on a busy machine.
 */
export function atTurnEnd(send: () => void): void {
  if (waiting.push(send) === 1) setImmediate(sendAll);
}

function sendAll(): void {
  const all = waiting;
  waiting = [];
  for (const send of all) send();
}
