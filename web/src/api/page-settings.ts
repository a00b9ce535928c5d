import type { SignInProvider } from "@berth/contract";
import { brand, exampleHost } from "../content/brand.ts";

/**
 * The operator's settings in public texts. The server writes them into every page, for prerendered pages without
 * JavaScript and for the app before its first request. In prerendering they are the placeholders that the server replaces
 * (server/src/http/documents.ts).
 */
export const pageSettings = {
  name: settingOf("application-name", "{{BRAND_NAME}}", brand.name),
  email: settingOf("contact-email", "{{CONTACT_EMAIL}}", brand.email),
  retentionDays: settingOf("retention-days", "{{RETENTION_DAYS}}", "30"),
  environmentHost: settingOf("environment-host", "{{ENVIRONMENT_HOST}}", exampleHost),
};

/** Other services to sign in with (G416). */
export const signInProviders = providersIn(settingOf("sign-in-providers", "{{SIGN_IN_PROVIDERS}}", "[]"));

/** Of the documentation: the console is at another address than the app. */
export const docsUrl = settingOf("docs-url", "{{DOCS_URL}}", "/docs");

/** "resnet-lab.berth.example": the address of an environment with this name, without the scheme. */
export function environmentHost(subdomain: string): string {
  return `${subdomain}.${pageSettings.environmentHost}`;
}

function providersIn(text: string): readonly SignInProvider[] {
  return text.startsWith("[") ? (JSON.parse(text) as SignInProvider[]) : [];
}

function settingOf(name: string, mark: string, fallback: string): string {
  if (typeof document === "undefined") return mark;
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
  // The development server does not replace the placeholders.
  return content === undefined || content === mark ? fallback : content;
}
