// npm run bench -- NAME: peers and floors in the same run; prints ratios.
const benches = ["launch", "gateway", "lighthouse", "lists", "reads", "orders", "billing", "fleet"] as const;

const name = benches.find((each) => each === process.argv[2]);
if (!name) {
  console.error(`npm run bench -- ${benches.join(" | ")}`);
  process.exit(2);
}
const { run } = await import(`./${name}.ts`);
await run();
