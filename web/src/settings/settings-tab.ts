const tabs = ["profile", "password", "notifications", "security", "ssh-keys", "data"] as const;

/** The open tab is in the URL (CONTRIBUTING 10); the first by default. */
export function settingsTab(params: URLSearchParams): (typeof tabs)[number] {
  return tabs.find((tab) => tab === params.get("tab")) ?? "profile";
}
