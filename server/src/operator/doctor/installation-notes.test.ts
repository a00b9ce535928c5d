import { expect, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { operatorAddress } from "../../config/speaking-defaults.ts";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { settingsOf } from "../process-registry.ts";
import { installationNotes } from "./installation-notes.ts";

const machine = { memoryBytes: 24 * 1024 ** 3, cores: 2 };
const isPublic = { APP_URL: "https://berth.uni.example", PAYMENTS: "embedded" };
const own = {
  ...{ CONTACT_EMAIL: "lab@uni.example", SUPPORT_NAME: "Ada", SUPPORT_RESPONSE_TIME: "Within a day" },
  ...{ SMTP_URL: "smtp://127.0.0.1:25", MAIL_FROM: "lab@uni.example" },
};

test("G351 on a public installation every default that speaks for the operator is named, and slots beyond the machine", async () => {
  const { db } = await setupEnvironments();
  const notes = (settings: Readonly<Record<string, string>>, isHere = true) =>
    installationNotes(db, settingsOf(readConfig(settings)), isHere, machine);
  expect(await notes({})).toEqual([]);
  expect(await notes({ ...isPublic, ...own })).toEqual([]);
  expect(await notes({ ...isPublic, SUPPORT_NAME: "Ada" })).toEqual([
    'Customers read values that you did not set: CONTACT_EMAIL ("hello@berth.example"), SUPPORT_RESPONSE_TIME ("Usually within 1 hour").',
    "SMTP_URL is not set: nobody gets a mail, and who forgets a password needs an operator.",
  ]);
  const { SMTP_URL, MAIL_FROM } = own;
  const nobody = "CONTACT_EMAIL is not set: the daily mail with the hash of the audit goes to nobody.";
  expect(await notes({ SMTP_URL, MAIL_FROM })).toEqual([nobody]);
  expect(operatorAddress(readConfig({ SMTP_URL, MAIL_FROM }))).toBeUndefined();
  expect(operatorAddress(readConfig(own))).toBe("lab@uni.example");
  await db.insertInto("hosts").values({ id: "local", kind: "docker" }).execute();
  const slots = [1, 2, 3, 4].map((each) => ({ id: `local-slot-${each}`, host_id: "local", kind: "cpu" as const }));
  await db
    .insertInto("gpus")
    .values(slots.map((slot) => ({ ...slot, model: "", memory_mb: 0 })))
    .execute();
  expect(await notes({})).toEqual([
    "4 CPU slots may use 64 GiB of memory and 16 cores together, and this machine has 24 GiB and 2: when all are busy they are slow, or end for lack of memory. SLOTS sets how many are offered.",
  ]);
  expect(await notes({}, false)).toEqual([]);
});
