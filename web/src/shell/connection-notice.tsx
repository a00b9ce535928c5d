import { Button, Group } from "@mantine/core";
import { useEffect, useState, useSyncExternalStore } from "react";
import { checkVersion, useUpgraded } from "../api/product-config.ts";
import { notices } from "../content/notices.ts";
import { Notice } from "../ui/display/notice.tsx";
import classes from "./connection-notice.module.css";

/** Shows that there is no connection, or that the server was upgraded. Above the page, so that nothing moves. */
export function ConnectionNotice() {
  const online = useSyncExternalStore(subscribeOnline, () => navigator.onLine);
  const upgraded = useUpgraded();
  const [hidden, setHidden] = useState(false);
  useEffect(() => {
    setHidden(false);
    if (online) void checkVersion();
  }, [online]);
  if (hidden) return null;
  return (
    <div className={classes.notice} role="status">
      {!online && (
        <Notice
          tone="hold"
          title={notices.offline}
          action={
            <Button size="xs" variant="subtle" onClick={() => setHidden(true)}>
              {notices.hide}
            </Button>
          }
        >
          {notices.offlineText}
        </Notice>
      )}
      {online && upgraded && (
        <Notice
          title={notices.upgraded}
          action={
            <Group gap={8} wrap="nowrap">
              <Button size="xs" variant="subtle" onClick={() => setHidden(true)}>
                {notices.later}
              </Button>
              <Button size="xs" variant="default" onClick={() => location.reload()}>
                {notices.reload}
              </Button>
            </Group>
          }
        >
          {notices.upgradedText}
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
