import { type GpuCount, joinQueue, leaveQueue, type QueuePlace } from "@berth/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, said } from "../../api/call.ts";
import { keys, placeQuery } from "../../api/queries.ts";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { toast } from "../../ui/toast/toast.ts";

export interface PlaceInLine {
  /** Undefined until it is known, null without one. */
  readonly place: QueuePlace | null | undefined;
  readonly busy: boolean;
  readonly wait: (gpus: GpuCount) => void;
  readonly leave: () => void;
}

/** The user's place in the line for GPUs (G86). */
export function usePlace(userId: string): PlaceInLine {
  const client = useQueryClient();
  const { data: place } = useQuery(placeQuery(userId));
  const settled = () =>
    Promise.all([keys.place(userId), keys.capacity].map((queryKey) => client.invalidateQueries({ queryKey })));
  const failed = (error: unknown) => void toast.error(said(error, texts.failed));
  const wait = useMutation({
    mutationFn: (gpu_count: GpuCount) => call(joinQueue, { params: {}, body: { gpu_count } }),
    onSuccess: (answer) => client.setQueryData(placeQuery(userId).queryKey, answer.place),
    onError: failed,
    onSettled: settled,
  });
  const leave = useMutation({
    mutationFn: () => call(leaveQueue, { params: {}, body: {} }),
    onSuccess: () => client.setQueryData(placeQuery(userId).queryKey, null),
    onError: failed,
    onSettled: settled,
  });
  return {
    place,
    busy: wait.isPending || leave.isPending,
    wait: (gpus) => wait.mutate(gpus),
    leave: () => leave.mutate(),
  };
}
