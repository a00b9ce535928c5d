import type { SearchDocs } from "./search-docs.ts";

/** Shows the field of the search; its index is loaded when somebody turns to the field. */
export function startSearch(): void {
  const box = document.querySelector<HTMLElement>("[data-docs-search]");
  const field = box?.querySelector("input");
  if (!box || !field) return;
  box.hidden = false;
  let loading: Promise<SearchDocs> | undefined;
  const load = () => {
    loading ??= import("./search-docs.ts").then(({ loadSearch }) => loadSearch());
    // Another try when somebody goes on typing.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  field.addEventListener("focus", () => void load().catch(() => undefined), { once: true });
  field.addEventListener("input", () => void show(box, field, load));
  field.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    field.value = "";
    void show(box, field, load);
  });
}

async function show(box: HTMLElement, field: HTMLInputElement, load: () => Promise<SearchDocs>): Promise<void> {
  const asked = field.value.trim();
  const status = box.querySelector("p");
  const list = box.querySelector("ul");
  if (!status || !list) return;
  const found =
    asked === ""
      ? []
      : await load().then(
          (search) => search(asked),
          () => undefined,
        );
  if (field.value.trim() !== asked) return;
  status.textContent = asked === "" ? "" : statusOf(found?.length);
  list.replaceChildren(...(found ?? []).map(itemOf));
}

function statusOf(count: number | undefined): string {
  if (count === undefined) return "The search could not be loaded. Try again.";
  if (count === 0) return "Nothing found. Try another word.";
  return count === 1 ? "1 result" : `${count} results`;
}

function itemOf({ id, title, heading, excerpt }: Awaited<ReturnType<SearchDocs>>[number]): HTMLLIElement {
  const link = document.createElement("a");
  link.href = id;
  const name = document.createElement("b");
  name.textContent = heading === "" ? title : `${title}: ${heading}`;
  const text = document.createElement("span");
  text.textContent = excerpt;
  link.append(name, text);
  const item = document.createElement("li");
  item.append(link);
  return item;
}
