import { Skeleton } from "@mantine/core";

/** Shown until the capacity is loaded, because the choices' notes would shift the layout. */
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
