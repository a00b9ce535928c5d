/** What makes two spellings of an address the same account. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}
