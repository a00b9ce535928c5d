/** The small print of the two bonus hours, the same wherever they are promised (G107, G306). */
export const bonusPrint =
  "The bonus hours are for at most as many GPUs as you paid for: with more GPUs they are fewer in proportion. An account has one such credit open at a time.";
