import { logout as logoutEndpoint } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/api-error.ts";
import { call } from "../api/call.ts";
import { setLeaving, signOut } from "../api/session.ts";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";

/**
 * Ends the sign-in on the server first, which also revokes the gateway's cookies (G86). Without a reply a toast offers to
 * sign out of this browser only.
 */
export function useLogout(): { logout: () => void; busy: boolean } {
  const leave = () => {
    setLeaving(true);
    signOut();
  };
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(logoutEndpoint, { params: {}, body: {} }),
    // Marked first, because another request may get a 401 before this one returns.
    onMutate: () => setLeaving(true),
    onSuccess: leave,
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) return leave();
      setLeaving(false);
      toast.error("Failed to log out", { action: { label: commonTexts.logoutHere, onClick: leave } });
    },
  });
  return { logout: () => mutate(), busy: isPending };
}
