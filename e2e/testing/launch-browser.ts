import type { Browser, BrowserType, LaunchOptions } from "@playwright/test";

/**
 * Chromium has ended with SIGSEGV within milliseconds of its start, before a test had opened a page: the launch is tried
 * once more, a test never is.
 */
export function launchBrowser(chromium: BrowserType, options?: LaunchOptions): Promise<Browser> {
  return chromium.launch(options).catch(() => chromium.launch(options));
}
