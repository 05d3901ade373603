/** What keeps a text from being a name that people give: a key, an id. */

/** In words, for an error; null when it is fine. @param lengthMax in characters */
export function nameProblem(name: unknown, lengthMax: number): string | null {
  if (typeof name !== 'string' || name === '') return 'it is empty';
  if (name.length > lengthMax) return `it has more than ${lengthMax} characters`;
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    return 'it has control characters, or half of a character';
  return null;
}
