// npm run bench -- NAME: measures peers and floors in the same run and prints ratios.
const benches = [
  "launch",
  "launch-kubernetes",
  "gateway",
  "lighthouse",
  "lists",
  "orders",
  "billing",
  "fleet",
  "reads",
  "scrape",
  "scale",
  "provider-limit",
] as const;

const name = benches.find((each) => each === process.argv[2]);
if (!name) {
  console.error(`npm run bench -- ${benches.join(" | ")}`);
  process.exit(2);
}
const { run } = await import(`./${name}.ts`);
await run();
