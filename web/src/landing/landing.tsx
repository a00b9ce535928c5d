import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link, Navigate } from "react-router";
import { useSession } from "../api/session.ts";
import { useBrand } from "../api/use-brand.ts";
import { slogan } from "../content/brand.ts";
import { smallestOrder } from "../content/smallest-order.ts";
import { HereNotice } from "./here-notice.tsx";
import { Hero } from "./hero.tsx";
import { HowItWorks } from "./how-it-works.tsx";
import { InTheBox } from "./in-the-box.tsx";
import classes from "./landing.module.css";
import { Pricing } from "./pricing.tsx";
import { PublicFrame } from "./public-frame.tsx";
import { Questions } from "./questions.tsx";
import { RefundPromise } from "./refund-promise.tsx";

/** For visitors; signed-in users are redirected to the dashboard (G55). */
export function Landing() {
  useDocumentTitle(`${useBrand().name}: ${slogan}`);
  if (useSession()) return <Navigate to="/dashboard" replace />;
  return (
    <PublicFrame>
      <Hero />
      <HowItWorks />
      <InTheBox />
      <Pricing />
      <RefundPromise />
      <Questions />
      <section className={classes.close}>
        <h2>{smallestOrder()}</h2>
        <Button component={Link} to="/login" size="md">
          Get Started
        </Button>
      </section>
      <HereNotice />
    </PublicFrame>
  );
}
