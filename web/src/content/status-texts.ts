export const statusTitle = "Status";

export const statusDescription =
  "Measured, not promised: how long launches take from payment to JupyterLab, stage by stage, and which GPUs are free now.";

export const statusTexts = {
  lead: (days: number) =>
    `Every launch is measured, from the payment to JupyterLab answering at its address. These are all of the last ${days} days.`,
  launches: "Paid to ready",
  launchesIntro: "Half of all launches were ready within the first time, 95 of 100 within the second.",
  cold: "Cold",
  coldText: "Started for its order",
  warm: "Warm",
  warmText: "Stood ready before its order",
  noCold: "None yet",
  noWarm: "None yet: no environment is kept ready ahead of its order",
  stages: "Stage by stage",
  stagesIntro: "When each stage of a cold launch was over, drawn on the 30 seconds that we promise.",
  noStages: "The stages are drawn here from 20 launches on.",
  free: "Free now",
  failed: "The figures cannot be read right now",
  failedText: "What runs is not affected. This page tries again by itself.",
  since: (day: string) => `This installation has run since ${day}.`,
} as const;
