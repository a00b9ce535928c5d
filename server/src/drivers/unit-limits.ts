/** What a run may use for each of its GPUs or CPU slots. */
export const unitLimits = { cpus: 4, memoryMb: 16_384, shmMb: 1024 } as const;

/** Disk quota of one environment in gigabytes (10^9 bytes). */
export const diskGb = 50;
