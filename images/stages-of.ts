/** The Dockerfile of one type: its base and its own stage. The old builder would build the stages of other types too. */
export function stagesOf(type: string, dockerfile: string): string {
  const stages = dockerfile.split(/^(?=FROM )/m);
  return stages.filter((stage) => !stage.startsWith("FROM ") || isNeeded(stage, type)).join("");
}

function isNeeded(stage: string, type: string): boolean {
  const name = /^FROM \S+ AS (\S+)/.exec(stage)?.[1];
  return name === "base" || name === type;
}
