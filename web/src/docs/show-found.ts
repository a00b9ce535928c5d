import { countUnfound } from "./count-unfound.ts";
import { type Found, type FoundGroup, loadSearch } from "./search-docs.ts";
import type { Audience } from "./search-options.ts";

interface Asked {
  readonly asked: string;
  readonly reader: Audience;
  /** Says how many there are. */
  readonly status: HTMLElement;
  readonly groups: HTMLElement;
}

/** Shows what is found. In a chunk of its own with the search: a page that is only read needs neither. */
export type ShowFound = (asked: Asked) => void;

/** @throws if the index does not arrive */
export async function openSearch(): Promise<ShowFound> {
  const search = await loadSearch();
  return ({ asked, reader, status, groups }) => {
    const found = search(asked, reader);
    status.textContent = statusOf(found);
    groups.replaceChildren(...found.flatMap(groupOf));
    countUnfound(found.length === 0 ? asked : "");
  };
}

function statusOf(found: readonly FoundGroup[]): string {
  const count = found.reduce((sum, group) => sum + group.found.length, 0);
  if (count === 0) return "Nothing found. Try another word.";
  return count === 1 ? "1 result" : `${count} results`;
}

function groupOf({ title, found }: FoundGroup): readonly HTMLElement[] {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const list = document.createElement("ul");
  list.setAttribute("aria-label", title);
  list.append(...found.map(itemOf));
  return [heading, list];
}

function itemOf({ id, title, heading, excerpt }: Found): HTMLLIElement {
  const link = document.createElement("a");
  link.href = id;
  const name = document.createElement("b");
  name.textContent = heading === "" ? title : `${title}: ${heading}`;
  const text = document.createElement("span");
  text.append(
    ...excerpt.map((piece) => {
      if (!piece.hit) return piece.text;
      const mark = document.createElement("mark");
      mark.textContent = piece.text;
      return mark;
    }),
  );
  link.append(name, text);
  const item = document.createElement("li");
  item.append(link);
  return item;
}
