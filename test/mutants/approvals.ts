import { inFile, type Mutant } from './mutant.js';

const INBOX = ['test/agent/tools/approval-inbox.test.ts'];

export const approvals: readonly Mutant[] = [
  ...inFile('src/memory/approvals/stored-decision.ts', INBOX, [
    [
      'decision-on-other-arguments',
      'known?.argumentsHash === argumentsHash ? known.decision : null',
      'known ? known.decision : null',
    ],
    ['second-decision-counts', '{ ifVersion: known?.version ?? null }', '{}'],
  ]),
  ...inFile('src/memory/approvals/waiting-approvals.ts', INBOX, [
    ['answered-call-waits', "if (trace?.type === 'tool_result')", 'if (trace === undefined)'],
    ['decision-on-what-nobody-saw', 'argumentsHash !== call.argumentsHash', 'argumentsHash === call.agentId'],
  ]),
  ...inFile('src/agent/tools/approval.ts', INBOX, [
    [
      'decision-stays-after-it-was-taken',
      'await deleteDecision(memory.store.backend, memory.agentId, call);',
      '',
    ],
    [
      'redacted-call-never-decided',
      'backend.redactor?.json(recorded.arguments) ?? recorded.arguments',
      'recorded.arguments',
    ],
  ]),
  ...inFile('src/agent/tools/tool-runner.ts', INBOX, [
    ['expiry-starts-again', 'known ? known.expiresAt : approvalExpiresMs', 'approvalExpiresMs'],
  ]),
  ...inFile('src/memory/erasure/memory-parts.ts', INBOX, [
    ['erasure-leaves-decisions', '    ...decisions,\n', ''],
  ]),
];
