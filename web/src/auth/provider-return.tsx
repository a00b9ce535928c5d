import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError } from "../api/api-error.ts";
import { messageOf } from "../api/call.ts";
import classes from "./auth-page.module.css";
import { loginFailure } from "./failure-text.ts";
import { loginByProvider, type WaitingLogin } from "./sign-in.ts";

interface Props {
  /** From the address; it works once. */
  readonly code: string;
  /** A code of the second factor is needed. */
  readonly onWaiting: (waiting: WaitingLogin) => void;
  readonly onFailed: (text: string) => void;
}

/** Ends a sign-in by another provider. On success the stored session replaces this screen. */
export function ProviderReturn({ code, onWaiting, onFailed }: Props) {
  const { mutate } = useMutation({
    mutationFn: loginByProvider,
    onSuccess: (waiting) => waiting && onWaiting(waiting),
    onError: (error) => onFailed(error instanceof ApiError ? messageOf(error) : loginFailure(error)),
  });
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    mutate(code);
  }, [code, mutate]);
  return (
    <p className={classes.lead} role="status">
      One moment...
    </p>
  );
}

/** The code in an address such as `/login#provider=...`. */
export function providerCode(hash: string): string | undefined {
  return /^#provider=([\w-]+)$/.exec(hash)?.[1];
}
