import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { BackgroundDiagnosis } from "./background-diagnosis.ts";

export interface ConsoleDeps {
  readonly config: Config;
  readonly db: Db;
  /** The installation's secret. */
  readonly secret: Buffer;
  readonly needsSecondFactor: boolean;
  /** The address of the app, which has the documentation. */
  readonly appUrl: string;
  /** The console's address without a trailing slash. */
  readonly url: string;
  readonly announce: Announce;
  readonly diagnosis: BackgroundDiagnosis;
  readonly log: Logger;
  /** Build output of the console's pages. */
  readonly dist: string;
}
