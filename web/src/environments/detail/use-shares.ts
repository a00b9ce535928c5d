import { revokeShare, type ShareTerm, shareEnvironment } from "@berth/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, said } from "../../api/call.ts";
import { keys } from "../../api/queries.ts";
import { toast } from "../../ui/toast/toast.ts";

interface Made {
  readonly id: string;
  readonly url: string;
}

/** Makes and revokes links of one environment. The address of the last one is known to this page alone, until it is left. */
export function useShares(environmentId: string) {
  const client = useQueryClient();
  const [made, setMade] = useState<Made>();
  const [busy, setBusy] = useState<string>();
  const perform = async (what: string, failed: string, work: () => Promise<void>) => {
    setBusy(what);
    try {
      await work();
    } catch (error) {
      toast.error(said(error), {
        title: failed,
      });
    }
    await client.invalidateQueries({ queryKey: keys.environment(environmentId) });
    setBusy(undefined);
  };
  return {
    made,
    busy,
    make: (term: ShareTerm) =>
      void perform("make", "The link was not made", async () => {
        const { share, url } = await call(shareEnvironment, { params: { id: environmentId }, body: { term } });
        setMade({ id: share.id, url });
      }),
    revoke: (shareId: string) =>
      void perform(shareId, "The link was not revoked", async () => {
        await call(revokeShare, { params: { id: environmentId, share_id: shareId }, body: {} });
        toast.success("The link is revoked. Whoever came in by it is out.");
      }),
  };
}
