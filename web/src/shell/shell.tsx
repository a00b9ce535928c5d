import { Drawer } from "@mantine/core";
import { useDisclosure, useDocumentTitle, useMediaQuery } from "@mantine/hooks";
import { lazy, Suspense, useEffect, useState } from "react";
import { Outlet } from "react-router";
import { useLiveChanges } from "../api/live/use-live-changes.ts";
import { readStorage, writeStorage } from "../api/storage.ts";
import { useShortcuts } from "./commands/use-shortcuts.ts";
import { ConnectionNotice } from "./connection-notice.tsx";
import { Header } from "./header.tsx";
import { loadScreensWhenIdle } from "./screens.ts";
import classes from "./shell.module.css";
import { Sidebar } from "./sidebar.tsx";
import { useTitle } from "./use-title.ts";

/** Loaded at the first shortcut. */
const Overlays = lazy(() => import("./overlays.tsx").then((part) => ({ default: part.Overlays })));

const collapsedKey = "sidebarCollapsed";

export function Shell() {
  useLiveChanges();
  useDocumentTitle(useTitle());
  useEffect(loadScreensWhenIdle, []);
  const [collapsed, setCollapsed] = useState(() => readStorage(collapsedKey) === "true");
  const [overlay, setOverlay] = useShortcuts();
  const [usesOverlays, setUsesOverlays] = useState(false);
  if (overlay !== undefined && !usesOverlays) setUsesOverlays(true);
  const [drawer, { open, close }] = useDisclosure(false);
  const narrow = useMediaQuery("(max-width: 48em)");
  const collapse = () => {
    writeStorage(collapsedKey, collapsed ? null : "true");
    setCollapsed(!collapsed);
  };
  return (
    <div className={classes.shell} data-shell data-collapsed={collapsed || undefined}>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <aside className={classes.side} aria-label="Sidebar">
        <Sidebar collapsed={collapsed} />
      </aside>
      <Drawer.Root
        opened={drawer && narrow}
        onClose={close}
        size={272}
        padding={0}
        classNames={{ content: classes.drawer ?? "" }}
      >
        <Drawer.Overlay backgroundOpacity={0.4} />
        <Drawer.Content aria-label="Menu">
          <Sidebar onNavigate={close} />
        </Drawer.Content>
      </Drawer.Root>
      <Header collapsed={collapsed} onCollapse={collapse} onMenu={open} onCommands={() => setOverlay("palette")} />
      <ConnectionNotice />
      {usesOverlays && (
        <Suspense>
          <Overlays overlay={overlay} onOverlay={setOverlay} />
        </Suspense>
      )}
      <main id="main" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}
