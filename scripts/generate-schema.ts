// npm run schema: writes server/src/database/schema.sql and tables.ts from the migrated database.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { type Db, openDatabase } from "../server/src/database/database.ts";
import { startEmbedded } from "../server/src/database/embedded/embedded.ts";
import { commandLogger } from "../server/src/logging/create-logger.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "server", "src", "database");

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly default: string | null;
  /** A generated or identity column: never written. */
  readonly generated: boolean;
}

interface Table {
  readonly name: string;
  readonly unlogged: boolean;
  readonly columns: readonly Column[];
  /** The primary key first, then by name. */
  readonly constraints: readonly {
    readonly name: string;
    readonly definition: string;
    readonly columns: readonly string[];
  }[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
}

interface Schema {
  readonly tables: readonly Table[];
  readonly functions: readonly string[];
}

/** The text of both files for this database's schema, by file name. */
export async function schemaFiles(db: Db): Promise<Readonly<Record<"schema.sql" | "tables.ts", string>>> {
  const schema = await readSchema(db);
  return { "schema.sql": sqlOf(schema), "tables.ts": formatted(typesOf(schema)) };
}

async function readSchema(db: Db): Promise<Schema> {
  const { rows: tables } = await sql<Table>`
    select c.relname as name, c.relpersistence = 'u' as unlogged,
      (select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'nullable', not attnotnull,
          'default', pg_get_expr(adbin, adrelid), 'generated', attgenerated <> '' or attidentity = 'a') order by attnum)
        from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      (select coalesce(json_agg(json_build_object('name', conname, 'definition', pg_get_constraintdef(k.oid, true),
          'columns', (select json_agg(attname) from pg_attribute where attrelid = c.oid and attnum = any(conkey)))
          order by contype <> 'p', conname), '[]')
        from pg_constraint k where conrelid = c.oid and contype in ('p', 'u', 'c', 'f', 'x')) as constraints,
      (select coalesce(json_agg(pg_get_indexdef(indexrelid, 0, true) order by indexrelid::regclass::text), '[]') from pg_index
        where indrelid = c.oid and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))) as indexes,
      (select coalesce(json_agg(pg_get_triggerdef(oid, true) order by tgname), '[]') from pg_trigger
        where tgrelid = c.oid and not tgisinternal) as triggers
    from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'migrations'
    order by relname collate "C"`.execute(db);
  const { rows: functions } = await sql<{ text: string }>`
    select format('create function %s(%s) returns %s language %s as $$%s$$;', proname, pg_get_function_arguments(p.oid),
      pg_get_function_result(p.oid), lanname, prosrc) as text
    from pg_proc p join pg_language l on l.oid = prolang where pronamespace = 'public'::regnamespace
    order by proname collate "C"`.execute(db);
  return { tables, functions: functions.map(({ text }) => text) };
}

function sqlOf({ tables, functions }: Schema): string {
  const head = "-- What the migrations make, for reading. Written by `npm run schema`: never edit it, add a migration.";
  return `${[head, ...tables.map(tableSql), ...functions].join("\n\n")}\n`;
}

function tableSql({ name, unlogged, columns, constraints, indexes, triggers }: Table): string {
  const lines = [
    ...columns.map(columnSql),
    ...constraints.map((each) => `constraint ${each.name} ${lowered(tidy(each.definition))}`),
  ];
  const table = `create ${unlogged ? "unlogged " : ""}table ${name} (\n${lines.map((line) => `  ${line}`).join(",\n")}\n);`;
  const rest = [...indexes, ...triggers].map((text) => `${lowered(tidy(text))};`);
  return [table, ...rest].join("\n");
}

function columnSql({ name, type, nullable, default: value, generated }: Column): string {
  const written = generated
    ? value
      ? ` generated always as (${tidy(value)}) stored`
      : " generated always as identity"
    : value && ` default ${tidy(value)}`;
  return `${name} ${shortType(type)}${nullable ? "" : " not null"}${written ?? ""}`;
}

function shortType(type: string): string {
  return type.replace("timestamp with time zone", "timestamptz");
}

/** Shortens PostgreSQL's canonical forms. */
function tidy(text: string): string {
  return text
    .replaceAll(/'::text\b/g, "'")
    .replaceAll(/= ANY \(ARRAY\[([^\]]*)\]\)/g, "in ($1)")
    .replaceAll(/<> ALL \(ARRAY\[([^\]]*)\]\)/g, "not in ($1)")
    .replaceAll("timestamp with time zone", "timestamptz")
    .replaceAll(" USING btree", "")
    .replaceAll("public.", "")
    .replaceAll(/\s*\n\s*/g, " ");
}

/** Lower case, except for string literals. */
function lowered(text: string): string {
  return text
    .split("'")
    .map((part, index) => (index % 2 === 0 ? part.toLowerCase() : part))
    .join("'");
}

const scalars: Readonly<Record<string, string>> = {
  ...{ text: "string", uuid: "string", boolean: "boolean", bytea: "Buffer", "text[]": "string[]" },
  ...{ bigint: "number", integer: "number", "double precision": "number", real: "number", smallint: "number" },
  ...{ date: "Date", "timestamp with time zone": "Date" },
};

function typesOf({ tables }: Schema): string {
  return `// Every table as the migrations make it. Written by \`npm run schema\`: never edit it, add a migration.
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { JsonColumns } from "./json-columns.ts";

export interface Tables {
${tables.map((table) => `${table.name}: {\n${table.columns.map((column) => `${column.name}: ${columnType(table, column)};`).join("\n")}\n};`).join("\n")}
}
`;
}

function columnType(table: Table, column: Column): string {
  const orNull = column.nullable ? " | null" : "";
  if (column.type === "jsonb") {
    const written = `string${orNull}${column.default === null ? "" : " | undefined"}`;
    return `ColumnType<JsonColumns["${table.name}.${column.name}"]${orNull}, ${written}, string${orNull}>`;
  }
  const type = `${unionOf(table, column) ?? scalarOf(table, column)}${orNull}`;
  if (column.generated) return `GeneratedAlways<${type}>`;
  return column.default === null ? type : `Generated<${type}>`;
}

function scalarOf(table: Table, { name, type }: Column): string {
  const scalar = scalars[type.replace(/^numeric.*/, "bigint")];
  if (!scalar) throw new Error(`${table.name}.${name} is ${type}, which scripts/generate-schema.ts does not know`);
  return scalar;
}

/** A union type from a check constraint of this column alone. */
function unionOf({ constraints }: Table, { name }: Column): string | undefined {
  for (const { definition, columns } of constraints) {
    const [, values] = new RegExp(`^check \\(${name} in \\(([^)]*)\\)\\)$`, "i").exec(tidy(definition)) ?? [];
    if (values && columns.length === 1) return values.replaceAll("'", '"').split(", ").join(" | ");
  }
  return undefined;
}

function formatted(text: string): string {
  const biome = join(root, "node_modules", ".bin", "biome");
  const path = join(folder, "tables.ts");
  return execFileSync(biome, ["format", `--stdin-file-path=${path}`], { input: text, encoding: "utf8", cwd: root });
}

async function write(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "berth-schema-"));
  const embedded = await startEmbedded({ directory, fsync: false, log: commandLogger });
  try {
    const database = await openDatabase(embedded.connection, commandLogger);
    const files = await schemaFiles(database.db);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await database.close();
  } finally {
    await embedded.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) await write();
