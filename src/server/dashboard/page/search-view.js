/** A search in an agent's past: best results first, each with its surroundings. */
import { asError, get, segment } from './api.js';
import { html, useRef, useState } from './preact.js';
import { counted, LongText, Problem, Time } from './text.js';

/** @typedef {import('./wire.js').SearchPage} SearchPage */

/** @param {{ id: string }} props */
export function Search({ id }) {
  const [page, setPage] = useState(/** @type {SearchPage | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const asks = useRef(0);
  const ask = async (/** @type {string} */ asked, /** @type {SearchPage | null} */ before) => {
    asks.current += 1;
    const own = asks.current;
    try {
      const offset = before?.next_offset ?? 0;
      const next = await get(`/agents/${segment(id)}/search?q=${segment(asked)}&offset=${offset}`);
      if (own !== asks.current) return; // a newer search was started
      setPage({ ...next, asked, results: [...(before?.results ?? []), ...next.results] });
      setError(null);
    } catch (thrown) {
      if (own === asks.current) setError(asError(thrown));
    }
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (document.getElementById('search-words'));
    void ask(field.value, null);
  };
  return html`<section aria-label="Search"><h2>Search</h2>
    <form class="search" role="search" onSubmit=${submit}>
      <label for="search-words">Words</label>
      <input id="search-words" name="words" type="search" maxlength="500" autocomplete="off" required pattern=".*\\S.*" />
      <button type="submit">Search</button></form>
    ${error && html`<${Problem} error=${error} />`}
    <p class="muted" role="status">${page && told(page)}</p>
    ${page && html`<${Results} key=${page.asked} id=${id} page=${page} />`}
    ${page && page.next_offset !== null && html`<button type="button" onClick=${() => ask(page.asked, page)}>More results</button>`}
  </section>`;
}

/** @param {SearchPage} page */
function told({ results, next_offset, searched_passages }) {
  const searched = counted(searched_passages, 'passage');
  if (results.length === 0) return `Nothing found in ${searched}.`;
  return `${next_offset === null ? '' : 'The best '}${counted(results.length, 'result')} in ${searched}`;
}

/** @param {{ id: string, page: SearchPage }} props */
function Results({ id, page }) {
  return html`<ol class="messages results">
    ${page.results.map((passage, index) => html`<${Result} key=${`${passage.record} ${index}`} id=${id} passage=${passage} />`)}
  </ol>`;
}

/** @param {{ id: string, passage: import('./wire.js').Passage }} props */
function Result({ id, passage }) {
  const [isOpen, setOpen] = useState(false);
  const [around, setAround] = useState(/** @type {readonly import('./wire.js').Passage[] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const toggle = () => {
    setOpen(!isOpen);
    if (isOpen) return;
    get(`/agents/${segment(id)}/passages?record=${passage.record}`).then((read) => {
      setAround(read.passages);
      setError(null);
    }, setError);
  };
  return html`<li><${Said} passage=${passage} />
    <button type="button" class="small" aria-expanded=${isOpen} onClick=${toggle}>${isOpen ? 'Hide' : 'Show'} surrounding messages</button>
    ${isOpen && error && html`<${Problem} error=${error} />`}
    ${
      isOpen &&
      around &&
      html`<ol class="around" aria-label="Surrounding messages">
        ${around.map((one, index) => html`<li key=${index} class=${isSame(one, passage) ? 'found' : null} aria-current=${isSame(one, passage) ? 'true' : null}><${Said} passage=${one} /></li>`)}
      </ol>`
    }
  </li>`;
}

/** @param {import('./wire.js').Passage} one @param {import('./wire.js').Passage} other */
function isSame(one, other) {
  return one.record === other.record && one.text === other.text;
}

/** @param {{ passage: import('./wire.js').Passage }} props */
function Said({ passage }) {
  const { speaker, tool_name, turn_id, at, record, text } = passage;
  return html`<header><strong>${speaker}</strong>${tool_name === undefined ? null : html` <strong>${tool_name}</strong>`}
      <span class="muted"> ${turn_id} · <${Time} at=${at} /> · record ${record}</span></header>
    <${LongText} text=${text} />`;
}
