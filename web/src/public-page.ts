/**
 * All the script that a drawn page needs (prerender.ts): the public pages are documents, and the app begins at the login.
 */
const schemeKey = "mantine-color-scheme-value";

for (const toggle of document.querySelectorAll("[data-scheme-toggle]")) toggle.addEventListener("click", switchScheme);
// The user may have signed in meanwhile: in another tab, or on the page before this one.
addEventListener("storage", leaveWhenSignedIn);
addEventListener("pageshow", leaveWhenSignedIn);

for (const sign of ["pointermove", "pointerdown", "keydown", "scroll"])
  addEventListener(sign, fetchApp, { once: true });

/** Loads the app once the reader moves or types. */
function fetchApp(): void {
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
    // Storage is blocked or full: the choice holds for this page.
  }
}

function leaveWhenSignedIn(): void {
  try {
    if (location.pathname === "/" && localStorage.getItem("idToken")) location.replace("/dashboard");
  } catch {
    // Blocked storage has no sign-in.
  }
}
