import { revokeShare, type ShareTerm, shareEnvironment } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../../../api/call.ts";
import { keys } from "../../../api/queries.ts";
import { toast } from "../../../ui/toast/toast.ts";

interface Made {
  readonly id: string;
  readonly url: string;
}

/** Creates and revokes share links. Only this page knows the URL of a new one, until the user leaves it. */
export function useShares(environmentId: string) {
  const client = useQueryClient();
  const [made, setMade] = useState<Made>();
  const onSettled = () => client.invalidateQueries({ queryKey: keys.environment(environmentId) });
  const failed = (title: string) => (error: unknown) => toast.error(messageOf(error), { title });
  const make = useMutation({
    mutationFn: (term: ShareTerm) => call(shareEnvironment, { params: { id: environmentId }, body: { term } }),
    onSuccess: ({ share, url }) => setMade({ id: share.id, url }),
    onError: failed("The link was not made"),
    onSettled,
  });
  const revoke = useMutation({
    mutationFn: (shareId: string) => call(revokeShare, { params: { id: environmentId, share_id: shareId }, body: {} }),
    onSuccess: () => toast.success("The link is revoked. Whoever came in by it is out."),
    onError: failed("The link was not revoked"),
    onSettled,
  });
  return {
    made,
    /** "make", or the id of the link that is being revoked. */
    busy: make.isPending ? "make" : revoke.isPending ? revoke.variables : undefined,
    make: (term: ShareTerm) => make.mutate(term),
    revoke: (shareId: string) => revoke.mutate(shareId),
  };
}
