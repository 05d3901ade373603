/** Checks a name that a person gives, such as a key or an id. */

/** The problem in words, for an error; null if the name is valid. @param lengthMax in characters */
export function nameProblem(name: unknown, lengthMax: number): string | null {
  if (typeof name !== 'string' || name === '') return 'it is empty';
  if (name.length > lengthMax) return `it has more than ${lengthMax} characters`;
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    return 'it has control characters, or half of a character';
  return null;
}
