import { operatorSignOut } from "@berth/contract/console/session";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Box, Gauge, LogOut, MessageSquare, ReceiptText, ScrollText, Server, Tags, Ticket, Users } from "lucide-react";
import { NavLink } from "react-router";
import { messageOf } from "../../api/call.ts";
import { pageSettings } from "../../api/page-settings.ts";
import classes from "../../shell/shell.module.css";
import { Mark } from "../../ui/display/logo.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { callConsole } from "./call-console.ts";
import { forget } from "./console-client.ts";
import own from "./console-sidebar.module.css";

/** Every screen, with the page of docs/operate about it. */
export const screens = [
  { to: "/", label: "Now", icon: Gauge, docs: "incidents" },
  { to: "/hosts", label: "Hosts", icon: Server, docs: "hosts" },
  { to: "/environments", label: "Environments", icon: Box, docs: "orders" },
  { to: "/orders", label: "Orders and refunds", icon: ReceiptText, docs: "orders" },
  { to: "/people", label: "People", icon: Users, docs: "accounts" },
  { to: "/credits", label: "Credits and vouchers", icon: Ticket, docs: "credits" },
  { to: "/prices", label: "Prices and terms", icon: Tags, docs: "catalogue" },
  { to: "/messages", label: "Messages and tickets", icon: MessageSquare, docs: "orders" },
  { to: "/audit", label: "Audit", icon: ScrollText, docs: "audit" },
];

interface Props {
  readonly email: string;
  readonly onNavigate?: () => void;
}

export function ConsoleSidebar({ email, onNavigate = () => undefined }: Props) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => callConsole(operatorSignOut, { params: {}, body: {} }),
    onSuccess: () => forget(client),
    onError: (error) => toast.error(messageOf(error), { title: "You are still signed in" }),
  });
  return (
    <div className={classes.sidebar}>
      <p className={own.brand}>
        <Mark />
        <strong>{pageSettings.name}</strong>
        <span>operator</span>
      </p>
      <nav aria-label="Main">
        {screens.map(({ to, label, icon: Icon }) => (
          <NavLink key={to} to={to} end={to === "/"} onClick={onNavigate}>
            <Icon size={16} strokeWidth={1.6} aria-hidden="true" />
            {label}
          </NavLink>
        ))}
      </nav>
      <div className={classes.user}>
        <p>
          <strong title={email}>{email}</strong>
        </p>
        <button type="button" disabled={isPending} onClick={() => mutate()}>
          <LogOut size={16} strokeWidth={1.6} aria-hidden="true" />
          Sign out
        </button>
      </div>
    </div>
  );
}
