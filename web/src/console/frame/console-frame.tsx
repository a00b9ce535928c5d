import { ActionIcon, Button, Drawer } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { CircleHelp, Menu } from "lucide-react";
import { useEffect } from "react";
import { matchPath, Outlet, useLocation } from "react-router";
import { messageOf } from "../../api/call.ts";
import { docsUrl, pageSettings } from "../../api/page-settings.ts";
import { LoadingScreen } from "../../shell/loading-screen.tsx";
import classes from "../../shell/shell.module.css";
import { SchemeToggle } from "../../ui/controls/scheme-toggle.tsx";
import { isSingleKey } from "../../ui/controls/single-keys.ts";
import { Notice } from "../../ui/display/notice.tsx";
import { sessionQuery } from "./console-client.ts";
import { ConsoleSidebar, screens } from "./console-sidebar.tsx";
import { personQuery } from "./person-query.ts";
import { SignInPage } from "./sign-in-page.tsx";

/** Everything behind the sign-in; without one the sign-in itself, under the same address. */
export function ConsoleFrame() {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (error)
    return (
      <Notice
        tone="fail"
        title="The console cannot be reached"
        alert
        action={<Button onClick={() => refetch()}>Try again</Button>}
      >
        {messageOf(error)}
      </Notice>
    );
  if (data === undefined) return <LoadingScreen>Opening the console...</LoadingScreen>;
  return data === null ? <SignInPage /> : <Shell email={data.email} />;
}

function Shell({ email }: { readonly email: string }) {
  const { pathname } = useLocation();
  const [opened, { open, close }] = useDisclosure(false);
  const screen = screens.find(({ to }) => to !== "/" && pathname.startsWith(to)) ?? screens[0];
  const personId = matchPath("/people/:id", pathname)?.params.id ?? "";
  const { data: shown } = useQuery({ ...personQuery(personId), enabled: false });
  const title = shown?.person.email ?? screen?.label ?? "Now";
  useEffect(focusSearchBySlash, []);
  useDocumentTitle(`${title} · ${pageSettings.name} operator`);
  return (
    <div className={classes.shell} data-shell>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <aside className={classes.side} aria-label="Sidebar">
        <ConsoleSidebar email={email} />
      </aside>
      <Drawer.Root
        opened={opened}
        onClose={close}
        size={272}
        padding={0}
        classNames={{ content: classes.drawer ?? "" }}
      >
        <Drawer.Overlay backgroundOpacity={0.4} />
        <Drawer.Content aria-label="Menu">
          <ConsoleSidebar email={email} onNavigate={close} />
        </Drawer.Content>
      </Drawer.Root>
      <header className={classes.header}>
        <ActionIcon className={classes.burger} variant="subtle" size={40} aria-label="Open menu" onClick={open}>
          <Menu size={18} strokeWidth={1.6} aria-hidden="true" />
        </ActionIcon>
        <h1>{title}</h1>
        <SchemeToggle />
        <ActionIcon
          component="a"
          href={`${docsUrl}/operate/${screen?.docs ?? "console"}`}
          target="_blank"
          rel="noreferrer"
          variant="subtle"
          size={34}
          aria-label="Help with this screen, in a new tab"
        >
          <CircleHelp size={16} strokeWidth={1.6} aria-hidden="true" />
        </ActionIcon>
      </header>
      <main id="main" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** `/` leads to the search of a list. Returns what ends that. */
function focusSearchBySlash(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const field = document.querySelector<HTMLElement>("main search input");
    if (event.key !== "/" || field === null || !isSingleKey(event)) return;
    event.preventDefault();
    field.focus();
  };
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}
