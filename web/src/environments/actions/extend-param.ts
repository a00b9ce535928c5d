/** `?extend=ID` opens the extension dialog on the list and on an environment's page; notices link there (server/src/environments/notice.ts). */
export const extendParam = "extend";
