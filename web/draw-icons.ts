import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

/**
 * Draws public/favicon.svg as PNG for clients without SVG: old browsers, home screens, link previews. Two shapes in a
 * square of 24 units need no image library.
 */
type Colour = readonly [red: number, green: number, blue: number];

interface Scene {
  readonly width: number;
  readonly height: number;
  /** Pixels per unit, and the position of the upper left corner. */
  readonly scale: number;
  readonly left: number;
  readonly top: number;
}

const canvas: Colour = [251, 252, 252];
const ink: Colour = [15, 21, 23];
const live: Colour = [10, 143, 108];

/** Samples along each side of a pixel. */
const finesse = 4;

export async function drawIcons(folder: string): Promise<void> {
  await writeFile(join(folder, "favicon.png"), png({ width: 48, height: 48, scale: 2, left: 0, top: 0 }));
  await writeFile(join(folder, "apple-touch-icon.png"), png({ width: 180, height: 180, scale: 5, left: 30, top: 30 }));
  await writeFile(join(folder, "og.png"), png({ width: 1200, height: 630, scale: 14, left: 432, top: 147 }));
}

function png(scene: Scene): Buffer {
  const { width, height } = scene;
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0, at = 0; y < height; y++) {
    rows[at++] = 0;
    for (let x = 0; x < width; x++) for (const part of pixel(scene, x, y)) rows[at++] = part;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([signature, block("IHDR", header), block("IDAT", data), block("IEND", Buffer.alloc(0))]);
}

function block(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function pixel({ scale, left, top }: Scene, x: number, y: number): number[] {
  const sum = [0, 0, 0];
  for (let sample = 0; sample < finesse ** 2; sample++) {
    const across = x + ((sample % finesse) + 0.5) / finesse;
    const down = y + (Math.floor(sample / finesse) + 0.5) / finesse;
    const colour = colourAt((across - left) / scale, (down - top) / scale);
    for (let part = 0; part < 3; part++) sum[part] = (sum[part] ?? 0) + (colour[part] ?? 0);
  }
  return sum.map((value) => Math.round(value / finesse ** 2));
}

/** The path "M4 3v13a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5V3" with a stroke of 2.5, and the block inside. */
function colourAt(x: number, y: number): Colour {
  if (toRoundedBox(x - 12, y - 10.5, 3, 5.5, 1.5) <= 0) return live;
  // The lower half of a tall rounded box, with square caps.
  const toQuay = Math.abs(toRoundedBox(x - 12, y + 179, 8, 200, 5));
  return toQuay <= 1.25 && y >= 1.75 ? ink : canvas;
}

/** Signed distance from a point to a rounded box around the origin. */
function toRoundedBox(x: number, y: number, halfWidth: number, halfHeight: number, radius: number): number {
  const beyondX = Math.abs(x) - halfWidth + radius;
  const beyondY = Math.abs(y) - halfHeight + radius;
  const outside = Math.hypot(Math.max(beyondX, 0), Math.max(beyondY, 0));
  return outside + Math.min(Math.max(beyondX, beyondY), 0) - radius;
}
