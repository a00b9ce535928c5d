import { type Catalogue, pricesAt, recipeOf } from "@berth/contract";
import {
  type OperatedCatalogue,
  type OperatedPrices,
  prepareType,
  readCatalogue,
  type SoldType,
} from "@berth/contract/console/catalogue";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { readGpuModels } from "../../environments/hosts/read-gpu-models.ts";
import { isPreparedOnRequest } from "../../environments/hosts/start-preparing-images.ts";
import { mount, success } from "../../http/mount.ts";
import {
  operatorCommand,
  operatorOutput,
  restartCommand,
  serviceFile,
  startCommand,
} from "../../text/operator-command.ts";
import { prepareType as askForType } from "../capacity/prepare-type.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";

const mostAnnounced = 20;

/** What is sold. The file of CATALOGUE changes it, not the console (docs/operate/catalogue.md). */
export function catalogueRoutes(app: FastifyInstance, { db, config }: Pick<ConsoleDeps, "db" | "config">): void {
  const { catalogue, catalogueFile = null } = config;
  mount(app, readCatalogue, async () => {
    const [images, reported, announced] = await Promise.all([readImages(db), readGpuModels(db), readAnnounced(db)]);
    return {
      ...{ ...success, file: catalogueFile, commands: commandsFor(catalogueFile) },
      types: catalogue.types.map(({ id, name }) => ({
        ...{ id, name, recipe: recipeOf(catalogue, id) },
        images: images.filter(({ type }) => type === id).map(({ type: _, ...image }) => image),
      })),
      prices: versionsOf(catalogue, new Date()),
      ...{ terms: [...(catalogue.terms ?? [])], announced },
      limits: catalogue.limits ?? {},
      gpus: (reported.length > 0 ? reported : catalogue.gpus).map(({ model, memoryGb: memory_gb }) => ({
        ...{ model, memory_gb },
      })),
    };
  });
  mount(app, prepareType, async ({ params: { id }, body, request }) => {
    const begins = await askForType(db, body.host, id, authorOf(request, body.reason));
    const message = begins ? `${id} is prepared on ${body.host} within a minute` : `${id} is prepared already`;
    return { ...success, message };
  });
}

function commandsFor(file: string | null): string[] {
  const name = file ?? (serviceFile ? "/etc/berth/catalogue.json" : "catalogue.json");
  const print = file === null ? [operatorOutput("catalogue", name)] : [];
  const set = file === null ? [`echo CATALOGUE=${name} >> ${serviceFile}`] : [];
  // A start by hand beside a service would be a second server.
  const start = serviceFile ? [...set, restartCommand] : [`CATALOGUE=${name} ${startCommand}`];
  return [...print, operatorCommand(`catalogue check ${name}`), ...start];
}

function versionsOf(catalogue: Catalogue, at: Date): OperatedPrices[] {
  const inForce = pricesAt(catalogue, at).from;
  return catalogue.prices.map((version) => {
    const { from, rows, hours, currencies } = pricesAt({ ...catalogue, prices: [version] }, at);
    return {
      ...{ from, state: from === inForce ? "in_force" : from > inForce ? "coming" : "past", hours: [...hours] },
      rows: rows.map(({ gpus, hourlyCents, hourlyLabel, monthlyCents, monthlyLabel }) => ({
        ...{ gpus, hourly_cents: hourlyCents, hourly_label: hourlyLabel },
        ...{ monthly_cents: monthlyCents, monthly_label: monthlyLabel },
      })),
      currencies: currencies.map(({ code, ratePerDollar, roundMinor }) => ({
        ...{ code, rate_per_dollar: ratePerDollar, round_minor: roundMinor },
      })),
    };
  });
}

async function readAnnounced(db: Db): Promise<OperatedCatalogue["announced"]> {
  const rows = await db
    .selectFrom("catalogue_changes")
    .select(["title", "body", "created_at", "due_at"])
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(mostAnnounced)
    .execute();
  return rows.map(({ title, body, created_at, due_at }) => {
    return { title, body, created_at: created_at.toISOString(), done: due_at === null };
  });
}

type ImageRow = SoldType["images"][number] & { readonly type: string };

async function readImages(db: Db): Promise<readonly ImageRow[]> {
  const { rows } = await sql<Omit<ImageRow, "can_prepare"> & { readonly kind: string }>`
    select container_type as type, host_id, state, percent, message, kind from host_images join hosts on hosts.id = host_id
    where removed_at is null and lost_at is null order by host_id`.execute(db);
  return rows.map(({ kind, ...image }) => ({
    ...image,
    can_prepare: image.state === "unavailable" && isPreparedOnRequest(kind),
  }));
}
