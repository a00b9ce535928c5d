import { Button } from "@mantine/core";
import { SchemeToggle } from "../ui/controls/scheme-toggle.tsx";
import { Logo } from "../ui/display/logo.tsx";
import classes from "./docs-bar.module.css";
import type { DocsView } from "./docs-view.ts";
import { audienceOf } from "./search-options.ts";

/**
 * The bar of the documentation: a tab for each audience, the search, and the way back. Who reads it is known in the browser
 * only, so both ways are drawn and web/index.html says which is shown.
 */
export function DocsBar({ tabs, path }: Pick<DocsView, "tabs" | "path">) {
  return (
    <div className={classes.bar}>
      <Logo />
      <nav aria-label="Audiences" className={classes.tabs}>
        {tabs.map((tab) => (
          <a key={tab.path} href={tab.path} aria-current={isCurrent(tab.path, path)}>
            {tab.title}
          </a>
        ))}
      </nav>
      <search className={classes.search} data-docs-search data-audience={audienceOf(path)} hidden>
        <input
          type="search"
          aria-label="Search the documentation"
          placeholder="Search"
          autoComplete="off"
          maxLength={64}
        />
        <div className={classes.panel} hidden>
          <p role="status" className={classes.count} />
          <div data-groups />
        </div>
      </search>
      <div className={classes.actions}>
        <SchemeToggle />
        <div data-member>
          <Button component="a" href="/support" variant="subtle" size="sm">
            Support
          </Button>
          <Button component="a" href="/dashboard" size="sm">
            Dashboard
          </Button>
        </div>
        <div data-guest>
          <Button component="a" href="/login" variant="subtle" size="sm">
            Login
          </Button>
          <Button component="a" href="/login#signup" size="sm">
            Sign Up
          </Button>
        </div>
      </div>
    </div>
  );
}

/** On the tab's own page it is that page, on the others of its part the place where one is. */
function isCurrent(tab: string, path: string): "page" | "true" | undefined {
  if (tab === path) return "page";
  return path !== "/docs" && audienceOf(tab) === audienceOf(path) ? "true" : undefined;
}
