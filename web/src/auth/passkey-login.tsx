import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useEffect } from "react";
import { logInWithPasskey, offerPasskeys, passkeyFailure } from "../api/passkeys.ts";
import { toast } from "../ui/toast/toast.ts";

const refused = (text: string) => toast.error(text, { title: "Login Failed" });

/** Logs in with a passkey: by a button, and by the browser's autofill of the address (G424). */
export function PasskeyLogin() {
  // On success the stored session replaces this screen.
  const { mutate, isPending } = useMutation({
    mutationFn: () => logInWithPasskey(),
    onError: (error) => refused(passkeyFailure(error)),
  });
  // A browser has one question at a time: the button ends the offer, which begins again after it.
  useEffect(() => (isPending ? undefined : offerPasskeys(refused)), [isPending]);
  return (
    <Button
      variant="default"
      size="md"
      fullWidth
      leftSection={<KeyRound size={16} aria-hidden />}
      loading={isPending}
      onClick={() => mutate()}
    >
      Sign in with a passkey
    </Button>
  );
}
