import { rmSync, writeFileSync } from "node:fs";

/** The clock of the processes that are started with NODE_OPTIONS: `file` says by how many milliseconds it is ahead. */
export function shiftedClock(file: string) {
  const program = `
    import { readFileSync } from "node:fs";
    const now = Date.now;
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
