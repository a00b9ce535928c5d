import { chatText, chatUrl, defaultSupport, type SupportSettings, supportCode } from "@berth/contract";
import { useState } from "react";
import { useConfig } from "../api/product-config.ts";
import { useSession } from "../api/session.ts";
import { useBrand } from "../api/use-brand.ts";

/** The chat link, built in the browser, so that it works without the server (G59). */
export interface Support extends SupportSettings {
  readonly userId: string;
  /** Empty if unknown. */
  readonly email: string;
  readonly supportName: string;
  /** The next ticket's code. */
  readonly code: string;
  /** Generates the code of the following ticket. */
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
