/** "4.2 s": as launches are shown everywhere. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
