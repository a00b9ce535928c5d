/** The whole script of a prerendered page (prerender.ts). */
const schemeKey = "mantine-color-scheme-value";

for (const toggle of document.querySelectorAll("[data-scheme-toggle]")) toggle.addEventListener("click", switchScheme);
// The user may have signed in meanwhile, in another tab or on the previous page.
addEventListener("storage", leaveWhenSignedIn);
addEventListener("pageshow", leaveWhenSignedIn);

for (const sign of ["pointermove", "pointerdown", "keydown", "scroll"])
  addEventListener(sign, prefetchApp, { once: true });

/** Prefetches the app on the first interaction. */
function prefetchApp(): void {
  const app = document.querySelector<HTMLTemplateElement>("template#app");
  if (!app) return;
  document.head.append(app.content);
  app.remove();
}

function switchScheme(): void {
  const { documentElement: page } = document;
  const next = page.getAttribute("data-mantine-color-scheme") === "dark" ? "light" : "dark";
  page.setAttribute("data-mantine-color-scheme", next);
  try {
    localStorage.setItem(schemeKey, next);
  } catch {
    // Storage is blocked or full; the choice applies to this page.
  }
}

function leaveWhenSignedIn(): void {
  try {
    if (location.pathname === "/" && localStorage.getItem("idToken")) location.replace("/dashboard");
  } catch {
    // Without storage there is no sign-in.
  }
}
