/** No real node's name can begin like this. */
export const expectedNodePrefix = "new:";

/** The name of a node that a cluster's autoscaler may still add. */
export const expectedNode = (number: number) => `${expectedNodePrefix}${number}`;

export const isExpectedNode = (node: string) => node.startsWith(expectedNodePrefix);
