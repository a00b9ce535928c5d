import { joinQueue, leaveQueue, type UserQueueEntry } from "@berth/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { keys, queueQuery } from "../../api/queries.ts";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { toast } from "../../ui/toast/toast.ts";

export interface Queue {
  /** Undefined until loaded, null without an entry. */
  readonly entry: UserQueueEntry | null | undefined;
  readonly busy: boolean;
  readonly wait: (gpus: number) => void;
  readonly leave: () => void;
}

/** The user's entry in the queue for GPUs (G86). */
export function useQueue(userId: string): Queue {
  const client = useQueryClient();
  const { data: entry } = useQuery(queueQuery(userId));
  const settled = () =>
    Promise.all([keys.queue(userId), keys.capacity].map((queryKey) => client.invalidateQueries({ queryKey })));
  const failed = (error: unknown) => void toast.error(messageOf(error, texts.failed));
  const wait = useMutation({
    mutationFn: (gpu_count: number) => call(joinQueue, { params: {}, body: { gpu_count } }),
    onSuccess: (reply) => client.setQueryData(queueQuery(userId).queryKey, reply.place),
    onError: failed,
    onSettled: settled,
  });
  const leave = useMutation({
    mutationFn: () => call(leaveQueue, { params: {}, body: {} }),
    onSuccess: () => client.setQueryData(queueQuery(userId).queryKey, null),
    onError: failed,
    onSettled: settled,
  });
  return {
    entry,
    busy: wait.isPending || leave.isPending,
    wait: (gpus) => wait.mutate(gpus),
    leave: () => leave.mutate(),
  };
}
