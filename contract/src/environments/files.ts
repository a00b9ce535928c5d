import { array, literal, maxLength, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { containerType, instant, nothing, success } from "../wire.ts";

export const listFiles = endpoint({
  method: "GET",
  path: "/files",
  auth: "bearer",
  summary:
    "Kept files of ended environments with their expiry (G31), files of stopped ones (G76), and former names (G301)",
  body: nothing,
  reply: object({
    status: literal("success"),
    files: array(
      object({
        /** The newest environment with these files. */
        environment_id: string(),
        /** Files that a fresh start left (G203): their id, which `archive` and `delete_files` take. Null for all others. */
        former_id: nullable(string()),
        subdomain: string(),
        container_type: containerType,
        gpu_count: number(),
        duration_hours: number(),
        /** In 10^6 bytes; null until measured. */
        size_mb: nullable(number()),
        /** Null while the environment is stopped, because its files are kept, and while the machine of former files is away. */
        files_until: nullable(instant),
        /** Prepaid seconds of the stopped environment (G24, G76). */
        banked_seconds: number(),
      }),
    ),
    /** Names of ended environments without files, which nobody else gets until then (G301). */
    names: array(object({ name: string(), reserved_until: instant })),
  }),
  errors: [],
});

export const giveFree = endpoint({
  method: "POST",
  path: "/names/{name}/give_free",
  auth: "bearer",
  summary: "Gives a former name of the caller free: from then on anybody may rent it (G301)",
  body: nothing,
  reply: success,
  errors: ["not_found", "action_not_allowed"],
});

export const archiveLink = endpoint({
  method: "POST",
  path: "/environments/{id}/archive",
  auth: "bearer",
  summary:
    "A single-use download link for the files of an environment, or those of a `former_id`, as tar.gz, valid for 60 s",
  body: nothing,
  reply: object({ status: literal("success"), url: string(), expires_at: instant }),
  errors: ["not_found"],
});

export const deleteFiles = endpoint({
  method: "POST",
  path: "/environments/{id}/delete_files",
  auth: "bearer",
  summary:
    "Deletes the kept files of an ended environment, or those of a `former_id`; `confirm` must be the subdomain (G31)",
  body: object({ confirm: string().check(maxLength(64)) }),
  reply: success,
  errors: ["not_found", "action_not_allowed"],
});
