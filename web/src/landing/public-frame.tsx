import { Button } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation, useNavigationType } from "react-router";
import { useBrand } from "../api/use-brand.ts";
import { legalLinks } from "../content/brand.ts";
import { statusTitle } from "../content/status-texts.ts";
import { SchemeToggle } from "../ui/controls/scheme-toggle.tsx";
import { Logo } from "../ui/display/logo.tsx";
import classes from "./public-frame.module.css";

interface Props {
  readonly children: ReactNode;
  /** In the header; by default that of the public pages. */
  readonly bar?: ReactNode;
}

export function PublicFrame({ children, bar = <ShopBar /> }: Props) {
  const brand = useBrand();
  useArrival();
  return (
    <>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <header className={classes.header}>{bar}</header>
      <main id="main">{children}</main>
      <footer className={classes.footer}>
        <div className={classes.foot}>
          <div>
            <Logo />
            <p>
              Open source. Run it on your own machines.{" "}
              <a href="/docs" className="link">
                Documentation
              </a>{" "}
              <Link to="/status" className="link">
                {statusTitle}
              </Link>
            </p>
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

function ShopBar() {
  return (
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
        <Button component={Link} to="/login#signup" size="sm">
          Sign Up
        </Button>
      </div>
    </div>
  );
}

/** Scrolls to the top or to the link's section. The browser handles Back and Forward. */
function useArrival(): void {
  const { pathname, hash } = useLocation();
  const followed = useNavigationType() !== "POP";
  useEffect(() => {
    if (!followed) return;
    const section = pathname && hash ? document.getElementById(hash.slice(1)) : null;
    if (section) section.scrollIntoView();
    else window.scrollTo(0, 0);
  }, [pathname, hash, followed]);
}
