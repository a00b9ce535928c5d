import type { EndedReason, IdleMinutes, StopReason } from "@berth/contract";
import type { ColumnType, Generated, GeneratedAlways } from "kysely";

/** Where a running environment answers; only a driver says so. */
export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string };

interface HostsTable {
  id: string;
  kind: "process" | "docker" | "kubernetes" | "fake";
  isolation: Generated<string>;
  pause: Generated<boolean>;
  drained_at: Date | null;
  away_since: Date | null;
  lost_at: Date | null;
  is_open: GeneratedAlways<boolean>;
  address: string | null;
  home_root: string | null;
  reach: string | null;
  removed_at: Date | null;
}

interface HostImagesTable {
  host_id: string;
  container_type: string;
  state: "ready" | "preparing" | "unavailable";
  percent: number | null;
  message: Generated<string>;
  updated_at: Generated<Date>;
}

interface GpusTable {
  id: string;
  host_id: string;
  kind: "gpu" | "cpu";
  model: Generated<string>;
  memory_mb: Generated<number>;
  quarantined_at: Date | null;
  quarantine_reason: Generated<string>;
}

interface GpuLeasesTable {
  id: string;
  gpu_id: string;
  holder_kind: "order" | "environment" | "pool" | "queue";
  holder_id: string;
  hold_until: Date | null;
  created_at: Generated<Date>;
  released_at: Date | null;
}

export interface WarmRunsTable {
  id: string;
  host_id: string;
  container_type: string;
  gpus: string[];
  home: string;
  run_token: string;
  state: Generated<"starting" | "ready" | "ending">;
  order_id: string | null;
  created_at: Generated<Date>;
  due_at: Generated<Date>;
  claim: string | null;
  attempts: Generated<number>;
}

interface QueueEntriesTable {
  id: string;
  place: GeneratedAlways<string>;
  user_id: string;
  gpu_count: number;
  status: Generated<"waiting" | "held" | "taken" | "lapsed" | "left">;
  asked_at: Generated<Date>;
  kept_host_id: string | null;
  held_until: Date | null;
  told_at: Date | null;
  order_id: string | null;
  closed_at: Date | null;
}

interface LaunchTimesTable {
  environment_id: string;
  warm: Generated<boolean>;
  ready_at: Date;
  placed_ms: number | null;
  image_ms: number | null;
  started_ms: number | null;
  answering_ms: number | null;
  ready_ms: number;
}

interface SubdomainClaimsTable {
  name: string;
  user_id: string;
  order_id: string | null;
  held_until: Date | null;
  retained_until: Date | null;
}

export interface EnvironmentsTable {
  id: string;
  order_id: string;
  user_id: string;
  container_type: string;
  subdomain: string;
  gpu_count: number;
  duration_hours: number;
  host_id: string;
  home: string;
  desired: Generated<"running" | "paused" | "stopped" | "terminated">;
  status: Generated<"pending" | "active" | "paused" | "stopped" | "terminated" | "unknown">;
  generation: Generated<number>;
  secret: string;
  run_token: string | null;
  warm: Generated<boolean>;
  endpoint: ColumnType<Address | null, string | null, string | null>;
  stage: string | null;
  stage_percent: number | null;
  requested_at: Generated<Date>;
  give_up_at: Date;
  down_since: Date | null;
  fault_since: Date | null;
  faulty_generation: number | null;
  first_attempt_at: Date | null;
  created_at: Date | null;
  expires_at: Date | null;
  banked_seconds: Generated<number>;
  banked_until: Date | null;
  clock_from: Date | null;
  free_on: Date | null;
  free_seconds: Generated<number>;
  without_settings: Generated<boolean>;
  stop_reason: StopReason | null;
  terminated_at: Date | null;
  ended_reason: EndedReason | null;
  notice: Generated<string>;
  idle_minutes: IdleMinutes | null;
  idle_stop_at: Date | null;
  idle_snoozed_until: Date | null;
  due_at: Generated<Date>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface LaunchStagesTable {
  environment_id: string;
  generation: number;
  stage: string;
  at: Generated<Date>;
}

interface SessionsTable {
  id: string;
  environment_id: string;
  user_id: string;
  container_type: string;
  opened_at: Generated<Date>;
  closed_at: Date | null;
  reason: string | null;
}

interface SignInCodesTable {
  hash: Buffer;
  user_id: string;
  environment_id: string;
  auth_session: string | null;
  expires_at: Date;
  used_at: Date | null;
  /** Of the browser that set out for the code; null for a program's. */
  visit: Buffer | null;
}

interface GrantsTable {
  id: string;
  user_id: string;
  environment_id: string;
  auth_session: string | null;
  share_id: string | null;
  created_at: Generated<Date>;
  revoked_at: Date | null;
}

interface ShareLinksTable {
  id: string;
  hash: Buffer;
  user_id: string;
  environment_id: string;
  created_at: Generated<Date>;
  expires_at: Date;
  revoked_at: Date | null;
  views: Generated<number>;
  last_viewed_at: Date | null;
}

export interface HomesTable {
  id: string;
  home: string;
  host_id: string;
  user_id: string;
  subdomain: string;
  used_at: Date | null;
  delete_at: Date | null;
  told_at: Date | null;
  full_told_at: Date | null;
  missing_since: Date | null;
  size_mb: number | null;
}

interface SamplesTable {
  environment_id: string;
  span_seconds: number;
  at: Date;
  looks: number;
  cpu_cores: number;
  memory_mb: number;
  home_mb: number;
  received_bytes_per_second: number | null;
  sent_bytes_per_second: number | null;
}

interface ActivityTable {
  environment_id: string;
  last_busy_at: Generated<Date>;
  looked_at: Generated<Date>;
}

interface GpuSamplesTable {
  environment_id: string;
  gpu_id: string;
  span_seconds: number;
  at: Date;
  looks: number;
  use_percent: number;
  memory_mb: number;
}

export interface EnvironmentTables {
  hosts: HostsTable;
  host_images: HostImagesTable;
  gpus: GpusTable;
  gpu_leases: GpuLeasesTable;
  warm_runs: WarmRunsTable;
  queue_entries: QueueEntriesTable;
  subdomain_claims: SubdomainClaimsTable;
  environments: EnvironmentsTable;
  launch_stages: LaunchStagesTable;
  launch_times: LaunchTimesTable;
  sessions: SessionsTable;
  sign_in_codes: SignInCodesTable;
  grants: GrantsTable;
  share_links: ShareLinksTable;
  homes: HomesTable;
  samples: SamplesTable;
  gpu_samples: GpuSamplesTable;
  activity: ActivityTable;
}
