// Before anything is painted: the colour scheme, and nobody who is signed in sees the landing page flash by.
function readStored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

const chosen = readStored("mantine-color-scheme-value") ?? "auto";
const wished = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.setAttribute("data-mantine-color-scheme", chosen === "auto" ? wished : chosen);

if (location.pathname === "/" && readStored("idToken")) location.replace("/dashboard");
