/** The page: a frame with navigation, and one view at a time, selected by the fragment of the address. */
import { AgentView } from './agent-view.js';
import { AgentsView } from './agents-view.js';
import { decoded, get, setToken, takeToken } from './api.js';
import { CheckpointSessionView } from './checkpoint-session-view.js';
import { CheckpointView } from './checkpoint-view.js';
import { CheckpointsView } from './checkpoints-view.js';
import { DocumentView } from './document-view.js';
import { DocumentsView } from './documents-view.js';
import { EntryView } from './entry-view.js';
import { Live } from './live.js';
import { html, render, useEffect, useMemo, useState } from './preact.js';
import { SessionsView } from './sessions-view.js';
import { StateView } from './state-view.js';
import { Problem } from './text.js';
import { WorkspaceView } from './workspace-view.js';
import { WorkspacesView } from './workspaces-view.js';

function App() {
  const [token, keepToken] = useState(takeToken());
  useEffect(() => {
    // An address with a token may be pasted while the page is open, which does not load it again.
    const take = () => keepToken(takeToken());
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  return token
    ? html`<${Frame} key=${token} onSignOut=${() => keepToken(null)} />`
    : html`<${SignIn} onToken=${keepToken} />`;
}

/** @param {{ onToken: (token: string) => void }} props */
function SignIn({ onToken }) {
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (document.getElementById('token'));
    const token = field.value.trim();
    setToken(token);
    await get('/openapi.json').then(
      () => onToken(token),
      (thrown) => {
        setToken(null);
        setError(thrown);
      },
    );
  };
  return html`<main class="sign-in"><h1>Rekindle</h1>
    <p>Enter the token that <code>rekindle serve</code> printed at its first start, or one from <code>rekindle token create</code>.</p>
    ${error && html`<${Problem} error=${error} />`}
    <form onSubmit=${submit}><label for="token">Token</label>
      <input id="token" name="token" type="password" autocomplete="off" required autofocus />
      <button type="submit">Open</button></form></main>`;
}

/** @param {{ onSignOut: () => void }} props */
function Frame({ onSignOut }) {
  const [isConnected, setConnected] = useState(false);
  const [path, setPath] = useState(location.hash);
  const live = useMemo(() => new Live(setConnected), []);
  useEffect(() => {
    live.connect();
    const follow = () => {
      takeToken(); // first, so that a token does not become a path
      setPath(location.hash);
    };
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('hashchange', follow);
      live.close();
    };
  }, []);
  const [, place = 'sessions', given, within] = path.split('/');
  const id = given === undefined ? null : decoded(given);
  const part = within === undefined ? null : decoded(within);
  const signOut = () => {
    setToken(null);
    onSignOut();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top"><strong>Rekindle</strong>
      <nav aria-label="Views">
        ${Object.entries(TABS).map(([name, title]) => html`<a key=${name} href=${`#/${name}`} aria-current=${name === place || name === `${place}s` ? 'page' : null}>${title}</a>`)}
      </nav>
      <span class=${isConnected ? 'connection on' : 'connection off'} role="status">${isConnected ? 'connected' : 'connecting…'}</span>
      <button type="button" class="small" onClick=${signOut}>Sign out</button></header>
    <main id="main" tabindex="-1"><${View} key=${path} place=${place} id=${id} part=${part} live=${live} /></main>`;
}

const TABS = {
  sessions: 'Sessions',
  agents: 'Agents',
  workspaces: 'Workspaces',
  documents: 'Documents',
  checkpoints: 'Checkpoints',
};

/** A normal link would replace the fragment, which selects the view. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** @param {{ place: string, id: string | null, part: string | null, live: Live }} props */
function View({ place, id, part, live }) {
  if (place === 'agents')
    return id === null ? html`<${AgentsView} live=${live} />` : html`<${AgentView} id=${id} live=${live} />`;
  if (place === 'workspaces') {
    if (id === null) return html`<${WorkspacesView} />`;
    return part === null
      ? html`<${WorkspaceView} id=${id} />`
      : html`<${EntryView} workspace=${id} entry=${part} />`;
  }
  if (place === 'documents')
    return id === null ? html`<${DocumentsView} />` : html`<${DocumentView} id=${id} />`;
  if (place === 'checkpoint' && id !== null) return html`<${CheckpointView} id=${id} />`;
  if (place === 'checkpoints')
    return id === null ? html`<${CheckpointsView} />` : html`<${CheckpointSessionView} id=${id} />`;
  return id === null ? html`<${SessionsView} live=${live} />` : html`<${StateView} id=${id} live=${live} />`;
}

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
root.replaceChildren();
render(html`<${App} />`, root);
