import { isSingleKey } from "../ui/controls/single-keys.ts";
import type { Audience } from "./search-options.ts";
import type { ShowFound } from "./show-found.ts";

interface Parts {
  readonly box: HTMLElement;
  readonly field: HTMLInputElement;
  readonly panel: HTMLElement;
  readonly status: HTMLElement;
  readonly groups: HTMLElement;
}

/** Shows the field of the search; its index is loaded when somebody turns to the field. */
export function startSearch(): void {
  const parts = findParts();
  if (!parts) return;
  const { box, field, panel } = parts;
  box.hidden = false;
  const load = loader();
  field.addEventListener("focus", () => void load().catch(() => undefined), { once: true });
  field.addEventListener("input", () => void show(parts, load));
  // Somebody who comes back to the field sees what it had found.
  field.addEventListener("focus", () => {
    panel.hidden = field.value.trim() === "";
  });
  box.addEventListener("keydown", (event) => move(parts, event));
  document.addEventListener("pointerdown", ({ target }) => {
    if (!box.contains(target as Node)) panel.hidden = true;
  });
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget as Node)) panel.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || !isSingleKey(event)) return;
    event.preventDefault();
    field.focus();
  });
}

function findParts(): Parts | undefined {
  const box = document.querySelector<HTMLElement>("[data-docs-search]");
  const field = box?.querySelector("input");
  const panel = field?.nextElementSibling as HTMLElement | null | undefined;
  const status = panel?.querySelector("p");
  const groups = panel?.querySelector<HTMLElement>("[data-groups]");
  return box && field && panel && status && groups ? { box, field, panel, status, groups } : undefined;
}

/** Loads once; after a failure again when somebody goes on typing. */
function loader(): () => Promise<ShowFound> {
  let loading: Promise<ShowFound> | undefined;
  return () => {
    loading ??= import("./show-found.ts").then(({ openSearch }) => openSearch());
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
}

async function show({ box, field, panel, status, groups }: Parts, load: () => Promise<ShowFound>): Promise<void> {
  const asked = field.value.trim();
  const reader = box.dataset["audience"] as Audience;
  const showFound = await load().catch(() => undefined);
  if (field.value.trim() !== asked) return;
  panel.hidden = asked === "";
  if (showFound) showFound({ asked, reader, status, groups });
  else status.textContent = "The search could not be loaded. Try again.";
}

/** Arrows go from the field through what was found and back, Enter in the field opens the first, Escape empties it. */
function move({ field, panel, groups }: Parts, event: KeyboardEvent): void {
  const links = panel.hidden ? [] : [...groups.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const { key } = event;
  if (key === "Escape") {
    field.value = "";
    field.focus();
    panel.hidden = true;
  } else if (key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (key === "ArrowUp" && at >= 0) (links[at - 1] ?? field).focus();
  else if (key === "Enter" && at < 0) links[0]?.click();
  else return;
  event.preventDefault();
}
