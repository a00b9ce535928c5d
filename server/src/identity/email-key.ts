/** Normalizes an email address: equal keys are the same account. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}
