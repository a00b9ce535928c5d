import type { Page } from "@playwright/test";
import type { environmentDetail, environmentSsh, listPorts, ReplyOf, SamplePoint } from "../../contract/src/index.ts";
import { everyState, inHours } from "./containers.ts";
import { mockCalls } from "./mock-calls.ts";

export type Detail = ReplyOf<typeof environmentDetail>["environment"];

export const environmentId = "1a3f9c27b0d4e5a61a3f9c27b";
const running = everyState["1a3f9c27b0d4e5a6"];
const stageOffsets = {
  ordered: -40,
  paid: 0,
  placed: 0.2,
  image: 0.3,
  created: 0.4,
  started: 1.2,
  answering: 5.9,
  ready: 6.8,
};
export const stagesOf = (upTo: number, paidAt = inHours(-3)): Detail["stages"] =>
  Object.entries(stageOffsets)
    .slice(0, upTo)
    .map(([stage, seconds]) => ({
      stage: stage as keyof typeof stageOffsets,
      at: new Date(Date.parse(paidAt) + seconds * 1000).toISOString(),
    }));

/** An environment with two GPUs, three hours old. */
export function detailFixture(change: Partial<Detail> = {}): Detail {
  if (!running) throw new Error("no environment to start from");
  return {
    ...running,
    id: environmentId,
    url: "http://resnet-lab.localhost:3000",
    jupyter_token: "k7dq-mx3a-9wzp-t2vn",
    session_id: "s4kq0t9w2mzp7xk4q0t9w2mzp",
    sessions: [
      { id: "s4kq0t9w2mzp7xk4q0t9w2mzp", opened_at: inHours(-1), closed_at: null, reason: null },
      { id: "r4kq0t9w2mzp7xk4q0t9w2mzp", opened_at: inHours(-3), closed_at: inHours(-1.5), reason: "stopped" },
    ],
    order_id: "9k4q0t9w2mzp7xk4q0t9w2mzp",
    receipts: ["INV-94kq0t9w2mz", "INV-84kq0t9w2mz"],
    payment_reference: "pay_R1x7Qm2Lk9WzTa",
    home_mb: 4210,
    shares: [
      { id: "h4", created_at: inHours(-2), expires_at: inHours(22), views: 3, last_viewed_at: inHours(-1) },
      { id: "h5", created_at: inHours(-30), expires_at: inHours(138), views: 0, last_viewed_at: null },
    ],
    stop_reason: null,
    lost_since: null,
    may_start_fresh: false,
    idle_stop: { minutes: null, stops_at: null, snoozed_until: null, last_busy_at: inHours(-0.4) },
    done_notice: { mode: null, has_run: false },
    generation: 2,
    stages: stagesOf(8),
    gpu: { model: "NVIDIA GeForce RTX 4070", memory_mb: 12_282, count: 2 },
    isolation: "container",
    ...change,
  };
}

const wave = (minute: number, of: number) => 0.5 + 0.5 * Math.sin((minute * 2 * Math.PI) / of);
const samples: SamplePoint[] = Array.from({ length: 60 }, (_, minute) => ({
  at: new Date(Date.now() - (60 - minute) * 60_000).toISOString(),
  cpu_cores: 1.2 + 2 * wave(minute, 17),
  memory_mb: 5200 + 70 * minute,
  home_mb: 4100 + 2 * minute,
  received_bytes_per_second: 900_000 * wave(minute, 23),
  sent_bytes_per_second: 48_000 * wave(minute, 11),
  gpus: ["a", "b"].map((gpu, n) => ({ id: gpu, use_percent: 55 + 40 * wave(minute, 9 + n), memory_mb: 9100 })),
})).filter((_, minute) => minute < 25 || minute > 31);

interface Shown {
  readonly environment?: Partial<Detail>;
  readonly points?: readonly SamplePoint[];
  readonly lines?: readonly string[];
  readonly ports?: ReplyOf<typeof listPorts>["ports"];
  readonly ssh?: Omit<ReplyOf<typeof environmentSsh>, "status">;
}

const listening = [
  { port: 6006, program: "tensorboard" },
  { port: 7860, program: "notebook" },
];

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILoozBIPsExpuBQjtTR+M/Iunl+m6YWUwzRNye+8N9yh";
const reached = {
  available: true,
  reason: null,
  connection: {
    ...{ jump_host: "berth.example", jump_port: 2222, host: "resnet-lab.berth", user: "berth" },
    command: "ssh -J berth@berth.example:2222 berth@resnet-lab.berth",
    config: "Host resnet-lab.berth\n  User berth\n  ProxyJump berth@berth.example:2222\n",
    known_hosts: [`[berth.example]:2222 ${hostKey}`, `resnet-lab.berth ${hostKey}`],
  },
};
export const sshKey = {
  ...{ id: "k4kq0t9w2mzp7xk4q0t9w2mzp", name: "ada@laptop", type: "ssh-ed25519" },
  fingerprint: "SHA256:QZn4mK25os9ZggvOu6cTr6SvhEyakwh9GHBSjqHyV5Y",
  created_at: inHours(-50),
  last_used_at: inHours(-2),
};

/** Opens the page with mocked replies. */
export async function showEnvironment(
  page: Page,
  { environment = {}, points = samples, lines = [], ports = listening, ssh = reached }: Shown = {},
): Promise<void> {
  const replies: readonly (readonly [string, object])[] = [
    [`**/environments/${environmentId}`, { json: { status: "success", environment: detailFixture(environment) } }],
    [
      `**/environments/${environmentId}/samples?span=1h`,
      { json: { status: "success", span: "1h", step_seconds: 60, points } },
    ],
    [`**/environments/${environmentId}/ssh`, { json: { status: "success", ...ssh } }],
    [`**/environments/${environmentId}/ports`, { json: { status: "success", ports } }],
    [
      `**/environments/${environmentId}/logs`,
      {
        contentType: "text/event-stream",
        body: `${lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join("")}event: over\ndata: {}\n\n`,
      },
    ],
  ];
  for (const [path, reply] of replies) {
    await mockCalls(page, path, (route) => route.fulfill(reply));
  }
  await page.goto(`/environments/${environmentId}`);
}

export const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Opens a part of the page (G343). */
export const openPart = (page: Page, name: "Overview" | "Use" | "Share" | "Access" | "Logs") =>
  page.getByRole("tab", { name, exact: true }).click();
