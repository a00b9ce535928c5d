/** How long a rental that has run may be down before it is stopped, or its unused time is refunded. */
export const maxDownMinutes = 10;
