import type { ReactNode } from "react";
import { Logo } from "../ui/display/logo.tsx";
import classes from "./auth-page.module.css";
import { BerthPlan } from "./berth-plan.tsx";

export function AuthFrame({ title, children, foot }: { title: string; children: ReactNode; foot?: ReactNode }) {
  return (
    <div className={classes.page}>
      <main className={classes.main}>
        <Logo />
        <div className={classes.form}>
          <h1>{title}</h1>
          {children}
        </div>
        {foot && <p className={classes.terms}>{foot}</p>}
      </main>
      <BerthPlan />
    </div>
  );
}
