/** What `failed` hears of things that are not ours to repair: one line, for no stack of ours would tell more. */
export class Remark extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Remark";
    this.stack = `Remark: ${message.replace(/\s+/g, " ")}`;
  }
}
