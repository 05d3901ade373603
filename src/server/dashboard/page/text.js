/**
 * Text and time for every view. Values are always shown as text, because agents' output must never become
 * markup.
 */
import { html, useState } from './preact.js';

const EXCERPT = 400;

/** @param {unknown} value */
export function jsonText(value) {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

/** Shows the beginning of a long text, with a button to open it. @param {{ text: string }} props */
export function LongText({ text }) {
  const [isOpen, setOpen] = useState(false);
  if (text.length <= EXCERPT) return html`<pre>${text}</pre>`;
  const label = isOpen ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`;
  return html`<pre>${isOpen ? text : `${text.slice(0, EXCERPT)}…`}</pre>
    <button type="button" class="small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label}</button>`;
}

/** @param {{ at: string | null | undefined }} props */
export function Time({ at }) {
  if (!at) return html`<span>–</span>`;
  const time = new Date(at);
  const text = Number.isNaN(time.getTime()) ? at : time.toLocaleString();
  return html`<time datetime=${at} title=${at}>${text}</time>`;
}

/** @param {{ status: string }} props */
export function Status({ status }) {
  const kind = ['running', 'finished', 'idle', 'failed', 'crashed', 'stopping'].includes(status)
    ? status
    : 'other';
  return html`<span class=${`status ${kind}`}>${status}</span>`;
}

/** @param {{ error: Error & { advice?: string } }} props */
export function Problem({ error }) {
  return html`<div class="problem" role="alert"><strong>${error.message}</strong> ${error.advice ?? ''}</div>`;
}

/** @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** @param {number} count */
export function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = count;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${units[unit]}`;
}
