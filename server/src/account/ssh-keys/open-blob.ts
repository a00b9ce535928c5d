/** Reads the parts of an SSH key's blob in turn (RFC 4251, section 5); undefined for what is not there whole. */
export interface BlobReader {
  bytes(): Buffer | undefined;
  /** ASCII. */
  text(): string | undefined;
  /** A positive number in its shortest form, without the byte that keeps it positive. */
  number(): Buffer | undefined;
  isAtEnd(): boolean;
}

export function openBlob(blob: Buffer): BlobReader {
  let at = 0;
  function bytes(): Buffer | undefined {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    const found = blob.subarray(at + 4, end);
    at = end;
    return found;
  }
  return {
    bytes,
    text: () => bytes()?.toString("latin1"),
    number: () => positive(bytes()),
    isAtEnd: () => at === blob.length,
  };
}

function positive(bytes: Buffer | undefined): Buffer | undefined {
  const [first = 0x80, second = 0] = bytes ?? [];
  if (first >= 0x80 || (first === 0 && second < 0x80)) return undefined;
  return first === 0 ? bytes?.subarray(1) : bytes;
}
