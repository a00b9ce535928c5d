import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { readGpuModels } from "./read-gpu-models.ts";

test("every model of the hosts in use is named once, with its memory in GB (G128)", async () => {
  await using database = await testDatabase();
  const { db } = database;
  expect(await readGpuModels(db)).toEqual([]);
  await sql`insert into hosts (id, kind) values ('a', 'docker'), ('b', 'docker')`.execute(db);
  await sql`insert into hosts (id, kind, drained_at, removed_at) values ('gone', 'docker', now(), now())`.execute(db);
  await sql`
    insert into gpus (id, host_id, kind, model, memory_mb, quarantined_at) values
      ('1', 'a', 'gpu', 'RTX 4070', 12282, null), ('2', 'a', 'gpu', 'RTX 4070', 12282, null),
      ('3', 'b', 'gpu', 'H100 80GB HBM3', 81559, null), ('4', 'b', 'gpu', 'L40S', 46068, now()),
      ('5', 'gone', 'gpu', 'A100', 81559, null), ('6', 'b', 'cpu', '', 0, null)`.execute(db);
  expect(await readGpuModels(db)).toEqual([
    { model: "RTX 4070", memoryGb: 12 },
    { model: "H100 80GB HBM3", memoryGb: 80 },
  ]);
});
