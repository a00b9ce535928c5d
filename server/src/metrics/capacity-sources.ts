import { sql } from "kysely";
import { isRentedType } from "../environments/hosts/missing-images.ts";
import { takeable } from "../environments/leases/gpu-leases.ts";
import type { DatabaseSource } from "./database-source.ts";

/** Hosts that are in use or to be used again: neither removed nor given up. */
const isKept = sql`removed_at is null and lost_at is null`;

/** GPUs, hosts, images and environments, as the database knows them. States without any are 0. */
export const capacitySources: readonly DatabaseSource[] = [
  {
    labels: ["host", "state"],
    gauges: {
      count: {
        name: "berth_gpus",
        help: "GPUs and CPU slots of each host by state. withheld: there is no room for it now. unknown: the host does not answer. With a warm run one is free.",
      },
    },
    rows: sql`
      select h.id as host, s.state, count(g.id)::float8 as count
      from hosts h cross join (values ('free'), ('leased'), ('quarantined'), ('withheld'), ('unknown')) s(state)
      left join (
        select id, host_id, case
            when (select away_since from hosts where id = host_id) is not null then 'unknown'
            when quarantine_reason <> '' or withheld_reason <> '' then 'quarantined'
            when quarantined_at is not null then 'withheld'
            when exists (select from gpu_leases where gpu_id = gpus.id and released_at is null and not ${takeable}) then 'leased'
            else 'free' end as state
        from gpus) g on g.host_id = h.id and g.state = s.state
      where ${isKept} group by h.id, s.state`,
  },
  {
    labels: ["state"],
    gauges: { count: { name: "berth_hosts", help: "Hosts by state." } },
    rows: sql`
      select s.state, count(h.state)::float8 as count
      from (values ('open'), ('draining'), ('unreachable'), ('lost')) s(state)
      left join (
        select case when lost_at is not null then 'lost' when away_since is not null then 'unreachable'
          when drained_at is not null then 'draining' else 'open' end as state
        from hosts where removed_at is null) h on h.state = s.state
      group by s.state`,
  },
  {
    labels: ["host"],
    gauges: { up: { name: "berth_host_up", help: "Whether a host answers." } },
    rows: sql`select id as host, (away_since is null)::int::float8 as up from hosts where ${isKept}`,
  },
  {
    labels: ["host", "type"],
    gauges: {
      missing: {
        name: "berth_image_missing",
        help: "1: a type that was rented in the last 30 days cannot be started on this host, or not yet.",
      },
    },
    rows: sql`
      select i.host_id as host, i.container_type as type, (i.state <> 'ready')::int::float8 as missing
      from host_images i join hosts h on h.id = i.host_id and ${isKept}
      where ${isRentedType}`,
  },
  {
    labels: ["status"],
    gauges: { count: { name: "berth_environments", help: "Environments that have not ended, by status." } },
    rows: sql`
      select s.status, count(e.id)::float8 as count
      from (values ('pending'), ('active'), ('paused'), ('stopped'), ('unknown')) s(status)
      left join environments e on e.status = s.status and e.status <> 'terminated' group by s.status`,
  },
  {
    labels: ["reason"],
    gauges: {
      count: { name: "berth_launches_failed", help: "First launches that ended undelivered within the last hour." },
    },
    rows: sql`
      select s.reason, count(e.id)::float8 as count from (values ('not_delivered'), ('silent')) s(reason)
      left join environments e on e.ended_reason = s.reason and e.terminated_at > now() - interval '1 hour'
        and e.created_at is null
      group by s.reason`,
  },
  {
    labels: [],
    gauges: {
      count: { name: "berth_mining_findings", help: "Findings of the mining detector that wait for a person." },
    },
    rows: sql`
      select count(*)::float8 as count from mining_findings f join environments e on e.id = f.environment_id
      where f.dismissed_at is null and e.status <> 'terminated' and e.desired <> 'terminated'`,
  },
  {
    labels: [],
    gauges: { count: { name: "berth_queue_customers", help: "Customers who wait for GPUs." } },
    rows: sql`select count(*)::float8 as count from queue_entries where status = 'waiting'`,
  },
  {
    labels: ["role"],
    gauges: {
      count: { name: "berth_processes", help: "Processes of the server with this role, seen within a minute." },
    },
    rows: sql`
      select s.role, count(p.id)::float8 as count from (values ('api'), ('gateway'), ('worker')) s(role)
      left join processes p on s.role = any(p.roles) and p.seen_at > now() - interval '60 seconds' group by s.role`,
  },
];
