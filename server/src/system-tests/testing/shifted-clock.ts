import { rmSync, writeFileSync } from "node:fs";

/**
 * The clocks of the processes that are started with NODE_OPTIONS: `file` says by how many milliseconds the wall clock is ahead;
 * the steady one, by which results are kept, runs `speed` times as fast. Timers are real.
 */
export function shiftedClock(file: string, speed = 1) {
  const program = `
    import { readFileSync } from "node:fs";
    const now = Date.now;
    const steady = performance.now.bind(performance);
    performance.now = () => steady() * ${speed};
    let [ahead, until] = [0, 0];
    Date.now = () => {
      const at = now();
      if (at >= until) {
        until = at + 100;
        try { ahead = Number(readFileSync(${JSON.stringify(file)}, "utf8")); } catch { ahead = 0; }
      }
      return at + ahead;
    };`;
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}`,
    shift: (milliseconds: number) => writeFileSync(file, String(milliseconds)),
    mend: () => rmSync(file, { force: true }),
  };
}
