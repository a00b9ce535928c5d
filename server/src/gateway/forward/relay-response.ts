import type { ServerResponse } from "node:http";
import { atTurnEnd } from "../http-client/at-turn-end.ts";
import type { ResponseHandler } from "../http-client/response-reader.ts";
import type { Run } from "../target/run.ts";
import { passableFields } from "./passable-fields.ts";

/** A chunk up to this size is copied, so that Node sends it with the head in one write. */
const smallBytes = 16 * 1024;

interface Flow {
  pause(): void;
  resume(): void;
}

/** Streams a response to the browser without buffering; a slow browser pauses the upstream (back-pressure). */
export function relayResponse(
  response: ServerResponse,
  run: Pick<Run, "silentSinceMs">,
  onBytes: (bytes: number) => void,
  flow: Flow,
): ResponseHandler {
  let isPaused = false;
  let isEnding = false;

  function waitForDrain(): void {
    if (isPaused) return;
    isPaused = true;
    flow.pause();
    response.once("drain", () => {
      isPaused = false;
      flow.resume();
    });
  }

  return {
    onHead({ status, headers }, isBodyAtHand) {
      run.silentSinceMs = undefined;
      response.writeHead(status, passableFields(headers) as string[]);
      if (!isBodyAtHand) response.flushHeaders();
    },
    onData(piece, isLast) {
      onBytes(piece.length);
      if (piece.length > smallBytes) {
        const isTaken = writeNow(response, piece, isLast);
        const isKept = response.socket?.writableLength !== 0;
        if (!isTaken && isKept) waitForDrain();
        return isKept;
      }
      const copy = piece.toString("latin1");
      if (isLast) {
        isEnding = true;
        atTurnEnd(() => response.end(copy, "latin1"));
      } else if (!response.write(copy, "latin1")) waitForDrain();
      return false;
    },
    onEnd() {
      if (!isEnding && !response.writableEnded) response.end();
    },
  };
}

/** Sends head and chunk in one synchronous write, as far as the kernel accepts them. */
function writeNow(response: ServerResponse, piece: Buffer, isLast: boolean): boolean {
  // Null while an earlier response on the same connection is unfinished.
  const { socket } = response;
  socket?.cork();
  const isTaken = isLast || response.write(piece);
  if (isLast) response.end(piece);
  socket?.uncork();
  return isTaken;
}
