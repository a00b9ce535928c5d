import * as z from "zod";

const portOrOff = /^(off|\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/;

/** The jump host of SSH. */
export const sshSettings = {
  SSH_PORT: z
    .string()
    .regex(portOrOff, "a port, or off")
    .optional()
    .describe("Port for SSH to environments, with the role gateway; off: none")
    .meta({ unset: "2222, unless it is taken; off with PORT=0", example: "2222" }),
  SSH_HOST: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The address that SSH_PORT is opened on; no proxy is in front of it, so that renters reach it only at a public one",
    )
    .meta({ unset: "HOST", example: "0.0.0.0" }),
};
