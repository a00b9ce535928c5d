import type { RouteObject } from "react-router";
import { AuditPage } from "./audit/audit-page.tsx";
import { EnvironmentPage } from "./environments/environment-page.tsx";
import { EnvironmentsPage } from "./environments/environments-page.tsx";
import { ConsoleFrame } from "./frame/console-frame.tsx";
import { LinkPage } from "./frame/link-page.tsx";
import { MachinesPage } from "./machines/machines-page.tsx";
import { NowPage } from "./now/now-page.tsx";
import { OrderPage } from "./orders/order-page.tsx";
import { OrdersPage } from "./orders/orders-page.tsx";
import { PricesPage } from "./prices/prices-page.tsx";

export const consoleRoutes: RouteObject[] = [
  { path: "/link", Component: LinkPage },
  {
    Component: ConsoleFrame,
    children: [
      { path: "/hosts", Component: MachinesPage },
      { path: "/environments", Component: EnvironmentsPage },
      { path: "/environments/:environmentId", Component: EnvironmentPage },
      { path: "/orders", Component: OrdersPage },
      { path: "/orders/:orderId", Component: OrderPage },
      { path: "/prices", Component: PricesPage },
      { path: "/audit", Component: AuditPage },
      { path: "*", Component: NowPage },
    ],
  },
];
