/** Timeout of a rental that is down: then it is stopped, or its unused time is refunded. */
export const maxDownMinutes = 10;
