import { chatText, chatUrl, defaultSupport, type SupportSettings, supportCode } from "@berth/contract";
import { useState } from "react";
import { useConfig } from "../api/product-config.ts";
import { useSession } from "../api/session.ts";
import { useBrand } from "../api/use-brand.ts";

/** The hand-off to the chat, made in the browser: it works without the server (G59). */
export interface Support extends SupportSettings {
  readonly userId: string;
  /** Empty if unknown. */
  readonly email: string;
  readonly supportName: string;
  /** The code of the next ticket. */
  readonly code: string;
  /** Makes a code for the ticket after this one. */
  readonly renewCode: () => void;
  readonly message: (topic?: string, description?: string) => string;
  readonly link: (message: string) => string;
}

export function useSupport(): Support {
  const session = useSession();
  const settings = useConfig()?.support ?? defaultSupport;
  const { supportName } = useBrand();
  const [startedAt, setStartedAt] = useState(() => Date.now());
  const userId = session?.userId ?? "";
  const email = session?.email ?? "";
  const code = supportCode(settings.codePrefix, userId, startedAt);
  return {
    ...settings,
    userId,
    email,
    supportName,
    code,
    renewCode: () => setStartedAt(Date.now()),
    message: (topic = "", description = "") => chatText({ code, email, topic, description }),
    link: (message) => chatUrl(settings, message, `${location.origin}/support`),
  };
}
