/** Shows the lines that differ between two texts. */
import { lineDiff } from './diff.js';
import { html } from './preact.js';

const MARKS = { same: ' ', added: '+', removed: '-' };

/** @param {{ before: string, after: string }} props */
export function DiffView({ before, after }) {
  return html`<pre class="diff">${lineDiff(before, after).map(
    ({ kind, text }, index) => html`<span key=${index} class=${kind}>${`${MARKS[kind]} ${text}\n`}</span>`,
  )}</pre>`;
}
