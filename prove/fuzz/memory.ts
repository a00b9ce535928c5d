import { readFileSync } from "node:fs";

export interface Memory {
  /** Looks now; MB. */
  look(): number;
  /** The most in the first and in the last quarter of all looks; MB. */
  highest(): { readonly first: number; readonly last: number };
}

/** The resident memory of a process, as Linux counts it. */
export function memoryOf(pid: number): Memory {
  const looks: number[] = [];
  return {
    look() {
      const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
      looks.push(kb / 1024);
      return kb / 1024;
    },
    highest() {
      const quarter = Math.ceil(looks.length / 4);
      return { first: Math.max(...looks.slice(0, quarter)), last: Math.max(...looks.slice(-quarter)) };
    },
  };
}
