interface Due {
  everything: boolean;
  readonly environments: Set<string>;
  readonly grants: Set<string>;
}

interface Reads {
  everything(): Promise<void>;
  some(environments: Iterable<string>, grants: Iterable<string>): Promise<void>;
}

const nothing = (): Due => ({ everything: false, environments: new Set(), grants: new Set() });

/** Collects pending reads of the database. Everything is pending at first, and again `reloadMs` after the last full read. */
export function createDueReads(reads: Reads, reloadMs: number) {
  let due: Due = { ...nothing(), everything: true };
  let next = Promise.withResolvers<void>();
  let readAllAt = 0;
  return {
    addEverything(): void {
      due.everything = true;
    },
    add(kind: "environments" | "grants", id: string): void {
      due[kind].add(id);
    },
    /** Resolves after the next pass, successful or not. */
    nextPass: (): Promise<void> => next.promise,
    /** Reads what is pending. After a failure everything is pending. */
    async pass(): Promise<void> {
      const { environments, grants } = due;
      const everything = due.everything || performance.now() - readAllAt >= reloadMs;
      const { resolve } = next;
      due = nothing();
      next = Promise.withResolvers();
      try {
        await (everything ? reads.everything() : reads.some(environments, grants));
        if (everything) readAllAt = performance.now();
      } catch (error) {
        due.everything = true;
        throw error;
      } finally {
        resolve();
      }
    },
    /** Resolves `nextPass` when no further pass will run. */
    end(): void {
      next.resolve();
    },
  };
}
