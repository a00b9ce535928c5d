/** "1 GPU", "2 GPUs". `nouns`: where an s does not make the plural. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
