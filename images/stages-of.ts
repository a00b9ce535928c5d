/** The Dockerfile of one type: what it stands on and itself. The old builder builds all that stands above, gigabytes of another type. */
export function stagesOf(type: string, dockerfile: string): string {
  const stages = dockerfile.split(/^(?=FROM )/m);
  return stages.filter((stage) => !stage.startsWith("FROM ") || isNeeded(stage, type)).join("");
}

function isNeeded(stage: string, type: string): boolean {
  const name = /^FROM \S+ AS (\S+)/.exec(stage)?.[1];
  return name === "base" || name === type;
}
