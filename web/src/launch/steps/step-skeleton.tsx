import { Skeleton } from "@mantine/core";

/** Until the machine has answered what it has: choices that came sooner would move when their notes arrive. */
export function StepSkeleton() {
  return (
    <div aria-busy="true">
      <Skeleton height={24} width="60%" mb={24} />
      {[1, 2, 3].map((row) => (
        <Skeleton key={row} height={88} radius={0} mb={8} />
      ))}
    </div>
  );
}
