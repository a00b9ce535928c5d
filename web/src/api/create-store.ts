import { useSyncExternalStore } from "react";

/**
 * A value outside React that components subscribe to. `read` returns the same object until the value changes;
 * `onSubscribe` runs for each new listener.
 */
export function createStore<Value>(read: () => Value, onSubscribe?: () => void) {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    onSubscribe?.();
    return () => {
      listeners.delete(listener);
    };
  };
  return {
    subscribe,
    notify: () => {
      for (const listener of listeners) listener();
    },
    useValue: () => useSyncExternalStore(subscribe, read, read),
  };
}
