/** The name of a node that a cluster's autoscaler may still add; no real node can have it. */
export const expectedNode = (number: number) => `new:${number}`;

export const isExpectedNode = (node: string) => node.startsWith("new:");
