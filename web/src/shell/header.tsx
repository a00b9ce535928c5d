import { ActionIcon } from "@mantine/core";
import { CircleHelp, Command, Menu, PanelLeft } from "lucide-react";
import { Link, useLocation } from "react-router";
import { plainPath } from "../format.ts";
import { SchemeToggle } from "../ui/controls/scheme-toggle.tsx";
import { helpPageOf } from "./commands/help-page-of.ts";
import { NotificationBell } from "./notifications/notification-bell.tsx";
import classes from "./shell.module.css";
import { useUser } from "./use-user.ts";

const titles: Readonly<Record<string, string>> = {
  "/environments": "Environments",
  "/environments/create": "Create Environment",
  "/billing": "Billing and Usage",
  "/support": "Support",
  "/settings": "Settings",
};

/** "Dashboard" by default (spec 2.3). */
export function titleOf(pathname: string): string {
  if (pathname.startsWith("/billing/orders/")) return "Order";
  if (/^\/environments\/(?!create\/?$)./.test(pathname)) return "Environment";
  return titles[plainPath(pathname)] ?? "Dashboard";
}

interface Props {
  readonly collapsed: boolean;
  readonly onCollapse: () => void;
  readonly onMenu: () => void;
  readonly onCommands: () => void;
}

export function Header({ collapsed, onCollapse, onMenu, onCommands }: Props) {
  const { pathname } = useLocation();
  const user = useUser();
  return (
    <header className={classes.header}>
      <ActionIcon
        className={classes.collapse}
        variant="subtle"
        size={34}
        aria-label={collapsed ? "Expand sidebar" : "Collapse sidebar"}
        aria-expanded={!collapsed}
        onClick={onCollapse}
      >
        <PanelLeft size={16} strokeWidth={1.6} aria-hidden="true" />
      </ActionIcon>
      <ActionIcon className={classes.burger} variant="subtle" size={40} aria-label="Open menu" onClick={onMenu}>
        <Menu size={18} strokeWidth={1.6} aria-hidden="true" />
      </ActionIcon>
      <h1>{titleOf(pathname)}</h1>
      <ActionIcon
        className={classes.commands}
        variant="subtle"
        size={34}
        aria-label="Commands"
        title="Commands (Ctrl K)"
        aria-haspopup="dialog"
        onClick={onCommands}
      >
        <Command size={15} strokeWidth={1.6} aria-hidden="true" />
      </ActionIcon>
      <SchemeToggle />
      <ActionIcon
        component="a"
        href={helpPageOf(pathname)}
        target="_blank"
        variant="subtle"
        size={34}
        aria-label="Help with this screen, in a new tab"
      >
        <CircleHelp size={16} strokeWidth={1.6} aria-hidden="true" />
      </ActionIcon>
      <NotificationBell />
      <Link to="/settings" className={classes.avatar} aria-label={`Settings of ${user.name}`}>
        {user.initial}
      </Link>
    </header>
  );
}
