/** One fixture for each thing that a copy could lose. */
export const QUICK_FIXTURES: readonly string[] = [
  'awkward-agent-id',
  'compacted-twice',
  'damaged-under-cache',
  'interrupted-unknown',
  'media',
  'newer-schema-only',
  'original-format-3',
  'torn-journal',
  'unverified-lines',
];
