/** `/environments?extend=ID` opens the dialog for more time; the server's notices lead there (server/src/environments/notices.ts). */
export const extendParam = "extend";
