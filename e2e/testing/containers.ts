import type { Page } from "@playwright/test";
import type { Container } from "../../contract/src/index.ts";

const hourMs = 3_600_000;

/** ISO time `hours` from now. */
export const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

const plain: Container = {
  type: "pytorch",
  status: "active",
  subdomain: "resnet-lab",
  gpu_count: 2,
  duration_hours: 6,
  created_at: inHours(-3),
  expires_at: inHours(3),
  can_pause: true,
  moving_percent: null,
  banked_seconds: 0,
  stage: null,
  stage_percent: null,
  waits_for: null,
  ended_reason: null,
  files_until: null,
};

/** One environment in each status, including the longest name and most GPUs. */
export const everyState: Readonly<Record<string, Container>> = {
  "1a3f9c27b0d4e5a6": plain,
  "2b3f9c27b0d4e5a6": { ...plain, subdomain: "thesis", type: "jupyter", gpu_count: 1, expires_at: inHours(0.2) },
  "3c3f9c27b0d4e5a6": {
    ...plain,
    status: "paused",
    subdomain: "a-name-of-forty-characters-is-the-longest",
    gpu_count: 8,
  },
  "4d3f9c27b0d4e5a6": {
    ...plain,
    status: "stopped",
    subdomain: "kaggle-night",
    type: "tensorflow",
    expires_at: null,
    banked_seconds: 8_400,
  },
  "5e3f9c27b0d4e5a6": {
    ...plain,
    status: "pending",
    subdomain: "whisper-small",
    created_at: inHours(0),
    expires_at: null,
    stage: "image",
    stage_percent: 42,
  },
  "6f3f9c27b0d4e5a6": { ...plain, status: "unknown", subdomain: "" },
  "7a3f9c27b0d4e5a6": {
    ...plain,
    status: "terminated",
    subdomain: "old-one",
    expires_at: inHours(-30),
    created_at: inHours(-36),
    ended_reason: "expired",
    files_until: inHours(24 * 29),
  },
};

/** Replaces the containers in the server's profile. */
export async function showContainers(page: Page, containers: Readonly<Record<string, unknown>>): Promise<void> {
  await alterReply(page, "**/profile/*", (reply) => ({
    ...reply,
    user_data: { ...reply.user_data, containers },
  }));
}

/** Changes the server's replies to `path`. */
export async function alterReply(
  page: Page,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: any reply of the API, of which a test changes a part
  change: (reply: any) => unknown,
): Promise<void> {
  await page.route(path, async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, json: change(await response.json()) });
    } catch (error) {
      // The route was removed or the test ended during the fetch.
      if (!/already handled|ended|closed|disposed/.test(String(error))) throw error;
    }
  });
}
