import { hoursOfCredit } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { creditsQuery } from "../../api/queries.ts";
import { hoursText } from "../../format.ts";
import classes from "./step-review.module.css";

interface Props {
  readonly userId: string;
  readonly gpus: number;
}

/** What the open credits add to this environment (G107, G153); nothing without one. */
export function CreditLine({ userId, gpus }: Props) {
  const open = useQuery(creditsQuery(userId)).data ?? [];
  const gpuHours = open.reduce((sum, { gpu_hours }) => sum + gpu_hours, 0);
  if (gpuHours === 0) return null;
  return (
    <p className={classes.promise}>
      <strong>Your credit adds {hoursText(hoursOfCredit(gpuHours, gpus))}</strong> to the hours that you buy, once
      JupyterLab answers.
    </p>
  );
}
