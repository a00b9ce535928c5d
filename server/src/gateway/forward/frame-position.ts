/** Where one direction of a WebSocket stands: in a frame's header, in its payload, or between two frames. */
export interface FramePosition {
  readonly header: number[];
  /** Undefined until the header is complete. */
  payloadLeft: number | undefined;
}

export function betweenFrames(): FramePosition {
  return { header: [], payloadLeft: undefined };
}

export function isBetweenFrames({ header }: FramePosition): boolean {
  return header.length === 0;
}

/** Follows bytes from the index on, to the end of the frame that they belong to or to their own; returns the index after it. */
export function toFrameEnd(position: FramePosition, bytes: Uint8Array, from: number): number {
  let at = from;
  while (position.payloadLeft === undefined) {
    if (at >= bytes.length) return at;
    position.header.push(bytes[at++] ?? 0);
    position.payloadLeft = payloadLengthOf(position.header);
  }
  const taken = Math.min(position.payloadLeft, bytes.length - at);
  position.payloadLeft -= taken;
  if (position.payloadLeft > 0) return at + taken;
  position.header.length = 0;
  position.payloadLeft = undefined;
  return at + taken;
}

/** Undefined while bytes of the header are missing (RFC 6455 5.2): two, those of a longer length, and a mask of four. */
function payloadLengthOf(header: readonly number[]): number | undefined {
  if (header.length < 2) return undefined;
  const [short, hasMask] = [(header[1] ?? 0) & 0x7f, (header[1] ?? 0) >= 0x80];
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (header.length < 2 + lengthBytes + (hasMask ? 4 : 0)) return undefined;
  if (lengthBytes === 0) return short;
  return header.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
}
