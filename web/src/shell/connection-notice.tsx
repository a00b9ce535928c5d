import { Button, Group } from "@mantine/core";
import { useEffect, useState, useSyncExternalStore } from "react";
import { checkVersion, useUpgraded } from "../api/product-config.ts";
import { commonTexts } from "../content/common-texts.ts";
import { Notice } from "../ui/display/notice.tsx";
import classes from "./connection-notice.module.css";

/** Shows that the browser is offline or the server was upgraded. Overlays the page to avoid layout shifts. */
export function ConnectionNotice() {
  const online = useSyncExternalStore(subscribeOnline, () => navigator.onLine);
  const upgraded = useUpgraded();
  const [hidden, setHidden] = useState(false);
  // Also after a reconnection that is over before it is rendered: "online" is false throughout then.
  useEffect(() => subscribeOnline(() => setHidden(false)), []);
  useEffect(() => {
    if (online) void checkVersion();
  }, [online]);
  if (hidden) return null;
  return (
    <div className={classes.notice} role="status">
      {!online && (
        <Notice
          tone="hold"
          title={commonTexts.offline}
          action={
            <Button size="xs" variant="subtle" onClick={() => setHidden(true)}>
              {commonTexts.hide}
            </Button>
          }
        >
          {commonTexts.offlineText}
        </Notice>
      )}
      {online && upgraded && (
        <Notice
          title={commonTexts.upgraded}
          action={
            <Group gap={8} wrap="nowrap">
              <Button size="xs" variant="subtle" onClick={() => setHidden(true)}>
                {commonTexts.later}
              </Button>
              <Button size="xs" variant="default" onClick={() => location.reload()}>
                {commonTexts.reload}
              </Button>
            </Group>
          }
        >
          {commonTexts.upgradedText}
        </Notice>
      )}
    </div>
  );
}

function subscribeOnline(onChange: () => void): () => void {
  window.addEventListener("online", onChange);
  window.addEventListener("offline", onChange);
  return () => {
    window.removeEventListener("online", onChange);
    window.removeEventListener("offline", onChange);
  };
}
