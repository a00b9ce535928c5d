/** Something that is not ours to repair: one line in the log, because no stack of ours would explain it. */
export class Remark extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Remark";
    this.stack = `Remark: ${message.replace(/\s+/g, " ")}`;
  }
}
