import { operatorsCommands } from "./accounts/operators-commands.ts";
import { auditCommands } from "./audit/audit-commands.ts";
import { backupCommands } from "./backup/backup-commands.ts";
import { capacityCommands } from "./capacity/capacity-commands.ts";
import { catalogueCommands } from "./catalogue-commands.ts";
import { completionScript, shells } from "./completion-script.ts";
import { identityCommands } from "./identity/identity-commands.ts";
import { machineCommands } from "./machine-commands.ts";
import { docsCommands } from "./messages/docs-commands.ts";
import { messageCommands } from "./messages/message-commands.ts";
import { moneyCommands } from "./money-commands.ts";
import { orderCommands } from "./orders/order-commands.ts";
import { type Command, usage } from "./parse-command.ts";
import { creditCommands } from "./people/credit-commands.ts";
import { peopleCommands } from "./people/people-commands.ts";
import { environmentCommands } from "./rentals/environment-commands.ts";
import { miningCommands } from "./rentals/mining-commands.ts";

/** The operator's commands on the machine itself (G68), with the server's settings: `npm run operator -- COMMAND`. */
export const commands: readonly Command[] = [
  ...machineCommands,
  ...peopleCommands,
  ...identityCommands,
  ...creditCommands,
  ...environmentCommands,
  ...miningCommands,
  ...orderCommands,
  ...messageCommands,
  ...docsCommands,
  ...moneyCommands,
  ...capacityCommands,
  ...auditCommands,
  ...backupCommands,
  ...catalogueCommands,
  ...operatorsCommands,
  {
    name: "completion",
    args: [shells.join(" | "), "[PROGRAM]"],
    about: "prints what completes these commands in a shell, for the program berth or one of another name",
    example: "completion bash",
    run: async (_, [shell = "", program = "berth"]) => {
      if (!shells.includes(shell)) return usage(`There is no completion for ${shell}.`);
      if (!/^[\w-]+$/.test(program)) return usage(`${program} is not a program's name.`);
      console.log(completionScript(commands, shell, program));
    },
  },
];
