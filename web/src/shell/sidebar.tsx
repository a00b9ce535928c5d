import { Tooltip } from "@mantine/core";
import { CreditCard, LayoutGrid, LifeBuoy, LogOut, Server, Settings2 } from "lucide-react";
import { Link, NavLink } from "react-router";
import { useBrand } from "../api/use-brand.ts";
import { Logo, Mark } from "../ui/display/logo.tsx";
import classes from "./shell.module.css";
import { useLogout } from "./use-logout.ts";
import { useUser } from "./use-user.ts";

const links = [
  { to: "/dashboard", label: "Dashboard", icon: LayoutGrid },
  { to: "/environments", label: "Environments", icon: Server },
  { to: "/billing", label: "Billing", icon: CreditCard },
  { to: "/support", label: "Support", icon: LifeBuoy },
  { to: "/settings", label: "Settings", icon: Settings2 },
];

interface Props {
  readonly collapsed?: boolean;
  readonly onNavigate?: () => void;
}

export function Sidebar({ collapsed = false, onNavigate = () => undefined }: Props) {
  const brand = useBrand();
  return (
    <div className={classes.sidebar} data-collapsed={collapsed || undefined}>
      <div className={classes.brand}>
        {collapsed ? (
          <Link to="/" aria-label={`${brand.name} home`}>
            <Mark />
          </Link>
        ) : (
          <Logo />
        )}
      </div>
      <nav aria-label="Main">
        {links.map(({ to, label, icon: Icon }) => (
          <Tooltip key={to} label={label} position="right" disabled={!collapsed}>
            <NavLink to={to} onClick={onNavigate} aria-label={collapsed ? label : undefined}>
              <Icon size={16} strokeWidth={1.6} aria-hidden="true" />
              {!collapsed && label}
            </NavLink>
          </Tooltip>
        ))}
      </nav>
      <Account collapsed={collapsed} />
    </div>
  );
}

function Account({ collapsed }: { collapsed: boolean }) {
  const user = useUser();
  const { logout, busy } = useLogout();
  return (
    <div className={classes.user}>
      {!collapsed && (
        <p>
          <strong>{user.name}</strong>
          <span title={user.email}>{user.email}</span>
        </p>
      )}
      <Tooltip label="Logout" position="right" disabled={!collapsed}>
        <button type="button" aria-label={collapsed ? "Logout" : undefined} disabled={busy} onClick={logout}>
          <LogOut size={16} strokeWidth={1.6} aria-hidden="true" />
          {!collapsed && "Logout"}
        </button>
      </Tooltip>
    </div>
  );
}
