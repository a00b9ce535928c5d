import type { RouteObject } from "react-router";
import { AuditPage } from "./audit/audit-page.tsx";
import { CreditsPage } from "./credits/credits-page.tsx";
import { EnvironmentPage } from "./environments/environment-page.tsx";
import { EnvironmentsPage } from "./environments/environments-page.tsx";
import { ConsoleFrame } from "./frame/console-frame.tsx";
import { LinkPage } from "./frame/link-page.tsx";
import { MachinesPage } from "./machines/machines-page.tsx";
import { AnnouncePage } from "./messages/announce-page.tsx";
import { MessagesPage } from "./messages/messages-page.tsx";
import { TicketPage } from "./messages/ticket-page.tsx";
import { NowPage } from "./now/now-page.tsx";
import { OrderPage } from "./orders/order-page.tsx";
import { OrdersPage } from "./orders/orders-page.tsx";
import { PeoplePage } from "./people/people-page.tsx";
import { PersonPage } from "./people/person-page.tsx";
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
      { path: "/credits", Component: CreditsPage },
      { path: "/prices", Component: PricesPage },
      { path: "/people", Component: PeoplePage },
      { path: "/people/:id", Component: PersonPage },
      { path: "/messages", Component: MessagesPage },
      { path: "/messages/announce", Component: AnnouncePage },
      { path: "/messages/:id", Component: TicketPage },
      { path: "/audit", Component: AuditPage },
      { path: "*", Component: NowPage },
    ],
  },
];
