import { logout as logoutEndpoint } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { ApiError, call } from "../api/call.ts";
import { setLeaving, signOut } from "../api/session.ts";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast/toast.ts";

/**
 * Ends the sign-in on the server first, because that also closes the environments' own sessions (G86). When the server
 * does not answer it says so, and offers to forget the sign-in here alone.
 */
export function useLogout(): { logout: () => void; busy: boolean } {
  const leave = () => {
    setLeaving(true);
    signOut();
  };
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(logoutEndpoint, { params: {}, body: {} }),
    // Another request may learn of the end before this one is answered.
    onMutate: () => setLeaving(true),
    onSuccess: leave,
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) return leave();
      setLeaving(false);
      toast.error("Failed to log out", { action: { label: notices.logoutHere, onClick: leave } });
    },
  });
  return { logout: () => mutate(), busy: isPending };
}
