const tabs = ["profile", "password", "notifications", "security", "data"] as const;

/** The open tab lives in the URL (CONTRIBUTING 10); an unknown one is the first. */
export function settingsTab(params: URLSearchParams): (typeof tabs)[number] {
  return tabs.find((tab) => tab === params.get("tab")) ?? "profile";
}
