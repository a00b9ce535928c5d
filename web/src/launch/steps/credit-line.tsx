import { hoursOfCredit } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { creditsQuery } from "../../api/queries.ts";
import { hoursText } from "../../format.ts";
import { useCovered } from "../draft/use-covered.ts";
import classes from "./step-review.module.css";

interface Props {
  readonly userId: string;
  readonly gpus: number;
  readonly hours: number;
}

/** What the open credits add to this environment (G107, G153); nothing without one. */
export function CreditLine({ userId, gpus, hours }: Props) {
  const covered = useCovered(userId, { gpus, hours });
  const open = useQuery(creditsQuery(userId)).data ?? [];
  const gpuHours = open.reduce((sum, { gpu_hours }) => sum + gpu_hours, 0);
  if (gpuHours === 0) return null;
  if (covered > 0)
    return (
      <p className={classes.promise}>
        <strong>Your code starts this without a payment.</strong> The environment gets all of your credit:{" "}
        {hoursText(hoursOfCredit(gpuHours, gpus))}.
      </p>
    );
  return (
    <p className={classes.promise}>
      <strong>Your credit adds {hoursText(hoursOfCredit(gpuHours, gpus))}</strong> to the hours that you buy, once
      JupyterLab answers.
    </p>
  );
}
