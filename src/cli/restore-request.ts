/** `rekindle restore --for`: shows the next request, its notes, and what its provider would refuse. */
import { artifactsOf } from '../agent/model/artifacts.js';
import { RekindleError } from '../core/errors.js';
import { restoreDry } from '../memory/maintenance/restore-dry.js';
import { checkRequest, project } from '../messages/projections/project.js';
import type { ProjectionTarget } from '../messages/projections/projection.js';
import { TARGETS, type TargetName } from '../messages/projections/targets.js';
import type { StorageBackend } from '../storage/ports.js';
import type { CommandContext } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { describeReport } from './report-text.js';
import { describeNote, describeRefusal } from './transcript-text.js';

/** The provider whose signed reasoning is included. */
const PROVIDERS: Readonly<Record<TargetName, string | undefined>> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
  'ai-sdk': undefined,
};

/** @throws INVALID_ARGUMENT for an unknown target */
export async function showRequest(
  storage: StorageBackend,
  agentId: string,
  given: string,
  model: string | undefined,
  print: CommandContext['print'],
): Promise<number> {
  const name = targetNamed(given);
  return restoreDry(storage, agentId, async (memory, messages, report) => {
    const provider = PROVIDERS[name];
    const target: ProjectionTarget = {
      artifacts: await artifactsOf(messages, (ref) => memory.getArtifact(ref)),
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
    };
    const { request, notes } = project(name, messages, target);
    const refused = checkRequest(name, request);
    print(
      [
        ...describeReport(report),
        '',
        ...notes.map((note) => `Note: ${describeNote(note)}`),
        ...refused.map((item) => `Would be refused: ${describeRefusal(name, item)}`),
        JSON.stringify(request, null, 2),
      ],
      { target: name, request, notes, refused, report },
    );
    return refused.length > 0 ? EXIT.problem : EXIT.ok;
  });
}

function targetNamed(given: string): TargetName {
  const name = TARGETS.find((target) => target === given);
  if (name) return name;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `Unknown target ${JSON.stringify(given)}. Choose one of ${TARGETS.join(', ')}.`,
    { details: { argument: '--for', given, targets: [...TARGETS] } },
  );
}
