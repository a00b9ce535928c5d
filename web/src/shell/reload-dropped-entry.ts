/**
 * A browser drops what it loads when the machine's network changes. A page whose entry script was dropped would stay blank: it
 * is loaded again, three times in 30 seconds as in use-reload.ts, and else says so. The build writes this function's text into
 * the document (web/guard-entry.ts), because no other script is there yet: nothing outside of it may be named in it.
 */
export function reloadDroppedEntry(): void {
  const key = "chunk_reloads";
  const recover = () => {
    const root = document.getElementById("root");
    // A public page can be read without its script.
    if (!root || root.childElementCount > 0) return;
    if (takeTurn()) location.reload();
    else explain(root);
  };
  const takeTurn = () => {
    try {
      const times: number[] = JSON.parse(sessionStorage.getItem(key) ?? "[]");
      const recent = times.filter((time) => Date.now() - time < 30_000);
      if (recent.length >= 3) return false;
      sessionStorage.setItem(key, JSON.stringify([...recent, Date.now()]));
      return true;
    } catch {
      return false;
    }
  };
  const explain = (root: HTMLElement) => {
    const text = document.createElement("p");
    text.textContent = "This page could not be loaded. Check your connection, then try again.";
    const again = document.createElement("button");
    again.textContent = "Try Again";
    again.addEventListener("click", () => location.reload());
    const main = document.createElement("main");
    Object.assign(main.style, { padding: "2rem", font: "1rem/1.5 system-ui, sans-serif" });
    Object.assign(again.style, { padding: "0.5rem 1rem", font: "inherit" });
    text.setAttribute("role", "alert");
    root.replaceChildren(main);
    main.append(text, again);
    document.title = "This page could not be loaded";
    addEventListener("online", () => location.reload());
  };
  const isEntry = (target: EventTarget | null) => target instanceof HTMLScriptElement && target.type === "module";
  addEventListener("error", ({ target }) => void (isEntry(target) && setTimeout(recover, 1000)), true);
}
