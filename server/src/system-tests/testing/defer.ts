/** Takes what ends a part: `onTestFinished` of a test, or the `defer` of a stack in a proof. */
export type Defer = (end: () => Promise<void> | void) => void;
