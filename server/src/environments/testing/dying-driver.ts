import type { Driver } from "../../drivers/driver.ts";

/** A driver whose process ends before or after the first call of an operation: every later call throws. */
export function dying(driver: Driver, operation: keyof Driver, when: "before" | "after") {
  let dead = false;
  const proxy = new Proxy(driver, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function" || name === "capabilities") return value;
      return async (...args: unknown[]) => {
        dead ||= name === operation && when === "before";
        if (dead) throw new Error("killed");
        const answer = await Reflect.apply(value, target, args);
        dead ||= name === operation;
        if (dead) throw new Error("killed");
        return answer;
      };
    },
  });
  return { drivers: new Map([["host", proxy]]), isDead: () => dead };
}
