/** A text in which every word is another one, so that a missing or repeated one is seen. */
export function storyOf(words: number): string {
  return Array.from({ length: words }, (_, word) => `word${word} `).join('');
}
