/** The lines that differ between two texts. */

/** @typedef {{ kind: 'same' | 'added' | 'removed', text: string }} DiffLine */

/**
 * Above this number of lines, the diff is one removed and one added block, because the table would be too
 * large.
 */
const LINES_MAX = 1_500;

/** @param {string} before @param {string} after @returns {DiffLine[]} */
export function lineDiff(before, after) {
  const from = before === '' ? [] : before.split('\n');
  const to = after === '' ? [] : after.split('\n');
  if (from.length > LINES_MAX || to.length > LINES_MAX) {
    return [...from.map((text) => line('removed', text)), ...to.map((text) => line('added', text))];
  }
  const common = commonLengths(from, to);
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      lines.push(line('same', from[i] ?? ''));
      i += 1;
      j += 1;
    } else if (j >= to.length || (i < from.length && at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push(line('removed', from[i] ?? ''));
      i += 1;
    } else {
      lines.push(line('added', to[j] ?? ''));
      j += 1;
    }
  }
  return lines;
}

/**
 * Length of the longest common subsequence from each pair of lines on. @param {string[]} from @param
 * {string[]} to
 */
function commonLengths(from, to) {
  const rows = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const row = /** @type {Uint16Array} */ (rows[i]);
      row[j] =
        from[i] === to[j] ? at(rows, i + 1, j + 1) + 1 : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
    }
  }
  return rows;
}

/** @param {Uint16Array[]} rows @param {number} i @param {number} j */
function at(rows, i, j) {
  return rows[i]?.[j] ?? 0;
}

/** @param {DiffLine['kind']} kind @param {string} text @returns {DiffLine} */
function line(kind, text) {
  return { kind, text };
}
