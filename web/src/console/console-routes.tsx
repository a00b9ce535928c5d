import type { RouteObject } from "react-router";
import { AuditPage } from "./audit/audit-page.tsx";
import { ConsoleFrame } from "./frame/console-frame.tsx";
import { LinkPage } from "./frame/link-page.tsx";
import { MachinesPage } from "./machines/machines-page.tsx";
import { NowPage } from "./now/now-page.tsx";

export const consoleRoutes: RouteObject[] = [
  { path: "/link", Component: LinkPage },
  {
    Component: ConsoleFrame,
    children: [
      { path: "/hosts", Component: MachinesPage },
      { path: "/audit", Component: AuditPage },
      { path: "*", Component: NowPage },
    ],
  },
];
