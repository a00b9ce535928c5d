import { type IdleMinutes, setIdleStop, snoozeIdleStop } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { useSetting, useSettled } from "./use-setting.ts";

export function useIdleStop(id: string) {
  return useSetting(id, "idle-stop", async (minutes: IdleMinutes | null) => {
    const { idle_stop } = await call(setIdleStop, { params: { id }, body: { minutes } });
    return { idle_stop };
  });
}

export function useSnooze(id: string) {
  const { mutate, isPending, error } = useMutation({
    ...useSettled(id),
    mutationFn: async () => {
      const { idle_stop } = await call(snoozeIdleStop, { params: { id }, body: {} });
      return { idle_stop };
    },
  });
  return { snooze: () => mutate(), busy: isPending, failure: error ? messageOf(error) : undefined };
}
