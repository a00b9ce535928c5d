/** Reduces the Dockerfile to the base and one type's stage, because the legacy builder would build all stages. */
export function stagesOf(type: string, dockerfile: string): string {
  const stages = dockerfile.split(/^(?=FROM )/m);
  return stages.filter((stage) => !stage.startsWith("FROM ") || isNeeded(stage, type)).join("");
}

function isNeeded(stage: string, type: string): boolean {
  const name = /^FROM \S+ AS (\S+)/.exec(stage)?.[1];
  return name === "base" || name === type;
}
