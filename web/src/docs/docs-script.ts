/** The whole script of a page of the documentation: everything in it can be read without. */
import "../public-page.ts";
import { startSearch } from "./start-search.ts";

/** Below it the menu is closed (docs.module.css). */
const wide = matchMedia("(min-width: 62em)");
const menu = document.querySelector<HTMLDetailsElement>("[data-docs-menu]");
if (menu) {
  const open = () => {
    menu.open = wide.matches;
  };
  open();
  wide.addEventListener("change", open);
  showCurrentPage(menu);
}

for (const block of document.querySelectorAll<HTMLElement>("pre")) addCopyButton(block);

startSearch();

/** The list of pages is longer than the window. A search begins above it. */
function showCurrentPage({ parentElement: side }: HTMLDetailsElement): void {
  const current = side?.querySelector<HTMLElement>("[aria-current]");
  if (!side || !current) return;
  side.scrollTop = current.offsetTop - side.clientHeight / 2;
  side.addEventListener("input", () => side.scrollTo(0, 0));
}

function addCopyButton(block: HTMLElement): void {
  const text = block.textContent ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(button, text));
  const frame = document.createElement("div");
  frame.setAttribute("data-copy", "");
  block.replaceWith(frame);
  frame.append(block, button);
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => "Copied",
    () => "Not copied",
  );
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1800);
}
