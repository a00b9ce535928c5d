/** `?extend=ID` opens the dialog for more time, on the list and on the page of one; the server's notices lead there (server/src/environments/notice.ts). */
export const extendParam = "extend";
