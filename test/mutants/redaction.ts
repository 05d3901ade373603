import { inFile, type Mutant } from './mutant.js';

const STORE = ['test/storage/redacted-storage.test.ts'];
const REDACTOR = ['test/core/redaction/redactor.test.ts'];

/** Sensitive data is stored, or a mask stands where none belongs. */
export const redaction: readonly Mutant[] = [
  ...inFile('src/storage/redacted-storage.ts', STORE, [
    ['redaction-leaves-journals', 'records.map((record) => this.#redactor.json(record)),', 'records,'],
    ['redaction-leaves-artifacts', "new Set(['artifacts', 'values'])", "new Set(['values'])"],
    [
      'one-of-two-redactions-is-forgotten',
      'backend.redactor ? inTurn(backend.redactor, redactor) : redactor;',
      'redactor;',
    ],
    ['redaction-changes-binary-data', '!isUtf8(bytes) || bytes.includes(0)', 'bytes.length === 0'],
  ]),
  ...inFile(
    'src/storage/shared-journal.ts',
    ['test/storage/shared-journal.test.ts'],
    [
      [
        'redacted-change-is-not-found-again',
        'decision.record && (this.#backend.redactor?.json(decision.record) ?? decision.record);',
        'decision.record;',
      ],
    ],
  ),
  ...inFile('src/checkpoints/session/session-log.ts', STORE, [
    [
      'code-of-a-label-before-redaction',
      'const row = this.#redactor?.json(given) ?? given;',
      'const row = given;',
    ],
  ]),
  ...inFile('src/storage/objects/object-backend.ts', STORE, [
    [
      'large-artifacts-are-not-redacted',
      'return redactedBlobs(blobs, scope, this.redactor);',
      'return redactedBlobs(blobs, scope, null);',
    ],
  ]),
  ...inFile('src/workspace/sessions/session-manager.ts', STORE, [
    ['session-state-is-not-redacted', 'this.#backend.redactor?.json(given) ?? given;', 'given;'],
  ]),
  ...inFile('src/memory/store/working-context-snapshot-store.ts', STORE, [
    ['written-snapshot-is-not-redacted', 'this.#backend.redactor?.json(payload) ?? payload;', 'payload;'],
  ]),
  ...inFile('src/state/durable/state-document.ts', STORE, [
    ['backup-is-not-redacted', 'backend.redactor ? storedText(text, backend.redactor) : text;', 'text;'],
  ]),
  ...inFile('src/memory/trace-log.ts', STORE, [
    [
      'imported-context-is-not-redacted',
      'if (this.#store.backend.redactor) for (const row of this.#pending) this.#apply(row);',
      '',
    ],
    ['live-context-is-not-redacted', 'return this.#store.backend.redactor?.json(row) ?? row;', 'return row;'],
  ]),
  ...inFile('src/memory/store/given-arguments.ts', STORE, [
    ['tool-gets-masks', 'if (given !== undefined) return given;', ''],
    ['call-runs-with-masks', 'hasMask(stored) ? undefined : stored', 'hasMask(stored) ? stored : stored'],
  ]),
  ...inFile('src/agent/context/host-reading.ts', STORE, [
    ['host-turn-is-not-known-again', '.map((message) => redacted(message, redactor));', ';'],
  ]),
  ...inFile('src/state/durable/state-manager.ts', STORE, [
    ['state-is-not-redacted', 'storedValue(this.#state, given, this.#options.backend.redactor);', 'given;'],
  ]),
  ...inFile('src/state/shared/shared-state.ts', STORE, [
    ['shared-state-is-not-redacted', 'this.#redactor = backend.redactor ?? null;', 'this.#redactor = null;'],
  ]),
  ...inFile('src/checkpoints/checkpoint-service.ts', STORE, [
    [
      'checkpoint-is-not-redacted',
      'contextContent(params.context, this.backend.redactor)',
      'contextContent(params.context)',
    ],
  ]),
  ...inFile('src/core/redaction/redactor.ts', REDACTOR, [
    [
      'redacted-text-keeps-a-signature',
      'return changed ? withoutSignature(changed) : given;',
      'return changed ?? given;',
    ],
    ['signature-of-a-mail-is-not-read', 'OPAQUE.has(name) && typeof', 'OPAQUE.has(name) || typeof'],
    [
      'a-mask-is-masked',
      'found.length > 0 && text.includes(MASK) ? outsideMasks(text, found) : found',
      'found',
    ],
    ['names-of-members-do-not-count', 'this.#hasCredentials ? kindByName(name, member) : null', 'null'],
  ]),
  ...inFile('src/core/redaction/credentials.ts', REDACTOR, [
    ['placeholders-are-masked', 'return PLACEHOLDER.test(text);', 'return PLACEHOLDER.test(text) && false;'],
  ]),
];
