import { finishLink } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { call, messageOf } from "../../api/call.ts";
import { signInProviders } from "../../api/page-settings.ts";
import { keys } from "../../api/queries.ts";
import { providerFailure } from "../../content/provider-failure.ts";
import { toast } from "../../ui/toast/toast.ts";

/** Connects what a provider led back with, as this page's user. Returns the sentence of a refusal. */
export function useProviderReturn(userId: string): string | undefined {
  const { hash } = useLocation();
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { mutate, error } = useMutation({
    mutationFn: (code: string) =>
      call(finishLink, { params: { user_id: userId }, body: { code } }, { withCookies: true }),
    onSuccess: ({ provider }) => toast.success(`${provider} is connected`),
    onSettled: () => {
      void navigate("/settings?tab=security", { replace: true });
      return client.invalidateQueries({ queryKey: keys.linkedAccounts(userId) });
    },
  });
  const code = /^#provider=([\w-]+)$/.exec(hash)?.[1];
  const begun = useRef<string>(undefined);
  useEffect(() => {
    if (code === undefined || begun.current === code) return;
    begun.current = code;
    mutate(code);
  }, [code, mutate]);
  const problem = search.get("error");
  if (error) return messageOf(error);
  return problem === null
    ? undefined
    : providerFailure(problem, signInProviders.find(({ key }) => key === search.get("provider"))?.name);
}
