import classes from "./slow-read.module.css";

/** Says what a screen waits for, once it has taken longer than usual. It takes no room, so that nothing moves. */
export function SlowRead({ what }: { readonly what: string }) {
  return <p className={classes.slow}>Reading {what}. This takes longer than usual.</p>;
}
