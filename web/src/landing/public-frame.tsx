import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useBrand } from "../api/brand.ts";
import { legalLinks } from "../content/brand.ts";
import { Logo } from "../ui/logo.tsx";
import { SchemeToggle } from "../ui/scheme-toggle.tsx";
import classes from "./public-frame.module.css";

export function PublicFrame({ children }: { children: ReactNode }) {
  const brand = useBrand();
  return (
    <>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Logo />
          <nav aria-label="Sections" className={classes.nav}>
            <a href="/#how">How it works</a>
            <a href="/#pricing">Pricing</a>
            <a href="/#questions">Questions</a>
          </nav>
          <div className={classes.actions}>
            <SchemeToggle />
            <Button component={Link} to="/login" variant="subtle" size="sm">
              Login
            </Button>
            <Button component={Link} to="/login" state={{ tab: "signup" }} size="sm">
              Sign Up
            </Button>
          </div>
        </div>
      </header>
      <main id="main">{children}</main>
      <footer className={classes.footer}>
        <div className={classes.foot}>
          <div>
            <Logo />
            <p>Open source. Run it on your own machines.</p>
          </div>
          <nav aria-label="Legal">
            {legalLinks.map(({ label, to }) => (
              <Link key={to} to={to}>
                {label}
              </Link>
            ))}
          </nav>
          <a className={classes.mail} href={`mailto:${brand.email}`}>
            {brand.email}
          </a>
        </div>
      </footer>
    </>
  );
}
