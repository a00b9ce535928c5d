import { expect, test } from "vitest";
import { betweenFrames, isBetweenFrames, toFrameEnd } from "./frame-position.ts";

/** A frame with a payload of this length, as `ws` and Tornado write it. */
function frame(length: number, mask: boolean): Buffer {
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  header[0] = 0x82;
  header[1] = (mask ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (header.length === 4) header.writeUInt16BE(length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, Buffer.alloc(mask ? 4 : 0, 7), Buffer.alloc(length, 0xff)]);
}

const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 2, 0];
const sizes = [1, 2, 3, 7, 64, 1000, 16_384, 1_000_000];

test.each(sizes)("frames of every length are followed through pieces of %i bytes, masked or not", (size) => {
  const frames = lengths.flatMap((length) => [frame(length, false), frame(length, true)]);
  const bytes = Buffer.concat(frames);
  const [position, ends] = [betweenFrames(), [] as number[]];
  for (let from = 0; from < bytes.length; from += size) {
    const piece = bytes.subarray(from, from + size);
    for (let at = 0; at < piece.length; ) {
      at = toFrameEnd(position, piece, at);
      if (isBetweenFrames(position)) ends.push(from + at);
    }
  }
  let sum = 0;
  expect(ends).toEqual(frames.map(({ length }) => (sum += length)));
});
