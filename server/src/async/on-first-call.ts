/** The value that the first call makes; a call that throws makes none. */
export function onFirstCall<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
