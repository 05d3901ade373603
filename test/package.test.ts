/** What the package promises to those who install it: its names, its entry points, its dependencies, its files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { MEMORY_JOURNALS } from '../src/memory/store/memory-store.js';
import { decodeSnapshot } from '../src/memory/store/snapshot-file.js';
import { SNAPSHOT_FILE } from '../src/memory/store/working-context-snapshot-store.js';
import { decodeLine } from '../src/storage/file/journal-line.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Built {
  readonly types: string;
  readonly default: string;
}

interface Conditions {
  readonly import: Built;
  readonly 'module-sync': Built;
  readonly require: Built;
  readonly default: string;
}

interface PackageJson {
  readonly main: string;
  readonly types: string;
  readonly bin: { readonly [name: string]: string };
  readonly files: readonly string[];
  readonly exports: { readonly [subpath: string]: string | Conditions };
  readonly typesVersions: { readonly [version: string]: { readonly [subpath: string]: readonly string[] } };
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly scripts: { readonly [name: string]: string };
  readonly optionalDependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } };
}

const manifest = JSON.parse(read('package.json')) as PackageJson;

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** The source file behind a built one: `./dist/a/b.js` and `./dist/a/b.d.ts` → `src/a/b.ts`. */
function sourceOf(target: string): string {
  return target.replace(/^\.\/dist\//, 'src/').replace(/(\.d\.ts|\.js)$/, '.ts');
}

/** The names of each entry point. A name taken away or renamed breaks programs: that is a major release. */
const NAMES: { readonly [subpath: string]: readonly string[] } = {
  '.': [
    'Agent',
    'AgentFactory',
    'FileStorage',
    'MemoryStorage',
    'OfflineModel',
    'RekindleError',
    'ScriptedModel',
    'WorkingContext',
    'createAgent',
    'isRekindleError',
    'openAgent',
    'openWorkingContext',
    'restoreAgent',
    'toJsonValue',
    'type AgentConfig',
    'type AgentEvent',
    'type AgentEvents',
    'type AgentStatus',
    'type Approve',
    'type ErrorCode',
    'type JsonChange',
    'type JsonConversion',
    'type JsonObject',
    'type JsonValue',
    'type LanguageModel',
    'type Message',
    'type RestoreReport',
    'type StorageBackend',
    'type ToolContext',
    'type ToolDefinition',
    'type TurnResult',
    'type WorkingContextOptions',
  ],
  './memory': [
    'CallLedger',
    'CompactionPolicy',
    'CompactionSnapshotBuilder',
    'Compactor',
    'ExtractiveSummarizer',
    'FACT_SOURCES',
    'Facts',
    'MemoryManager',
    'MemoryStore',
    'ModelSummarizer',
    'O200kTokenCounter',
    'Retriever',
    'ToolCallLedger',
    'WorkingContextSnapshot',
    'WorkingContextSnapshotBootstrapOptions',
    'WorkingContextSnapshotBootstrapper',
    'WorkingContextSnapshotSerializer',
    'WorkingContextSnapshotStore',
    'agentExists',
    'agentHistory',
    'copyAgent',
    'factTools',
    'importTranscript',
    'listAgents',
    'listFacts',
    'listSources',
    'lookBackTools',
    'memoryTools',
    'messagesOfTraces',
    'openMemory',
    'openToolCallLedger',
    'planPurge',
    'purgeSource',
    'readAnswer',
    'readAround',
    'readResultTool',
    'readTurns',
    'rebuildAgent',
    'repairAgent',
    'searchAgent',
    'summarizeAgent',
    'traceFromJson',
    'traceToJson',
    'type AgentCopy',
    'type AgentHistory',
    'type AgentMoment',
    'type AgentSummary',
    'type AnswerPart',
    'type AnswerParts',
    'type AnswerReading',
    'type AnswerState',
    'type AssistantResponse',
    'type Boundary',
    'type CacheRefusal',
    'type CallVerdict',
    'type CompactionPlan',
    'type CompactionPolicyOptions',
    'type CompactionResult',
    'type CompactorOptions',
    'type CutOffAnswer',
    'type DamageReport',
    'type Embedder',
    'type EmbedderOptions',
    'type EpisodicItem',
    'type Fact',
    'type FactKeeper',
    'type FactOwner',
    'type FactSource',
    'type FactToolOptions',
    'type FactTrace',
    'type FitReport',
    'type FitRequest',
    'type ForkedFrom',
    'type Frontier',
    'type FrontierKind',
    'type GenerateText',
    'type HistoryOptions',
    'type ImportOptions',
    'type ImportReport',
    'type InterruptedCall',
    'type LedgerCall',
    'type LedgerOptions',
    'type LedgerOutcome',
    'type LedgerRunOptions',
    'type MediaInput',
    'type MemoryBundle',
    'type MemoryEvents',
    'type MemoryManagerOptions',
    'type MemoryOptions',
    'type MemoryRetriever',
    'type MemoryToolOptions',
    'type OpenMemory',
    'type PartWriter',
    'type Passage',
    'type PastPage',
    'type PastQuery',
    'type ReadAnswerOptions',
    'type ReadResultOptions',
    'type RecallHit',
    'type RecallOptions',
    'type RecallReport',
    'type RecalledPassage',
    'type RememberOptions',
    'type RepairReport',
    'type RequestParts',
    'type RestoreReport',
    'type RestoreSource',
    'type Rung',
    'type SemanticFact',
    'type SemanticItem',
    'type SnapshotMetadata',
    'type SnapshotMetadataInit',
    'type SourceCount',
    'type SourcePurge',
    'type Speaker',
    'type StoredFactToolOptions',
    'type StoredPart',
    'type Summarizer',
    'type SummarizerOptions',
    'type TokenCounter',
    'type ToolResultInput',
    'type Trace',
    'type TurnSummary',
    'type UserInput',
    'type VerifyReport',
    'type WorkingContextSnapshotBootstrapOptionsInit',
    'verifyAgent',
  ],
  './messages': [
    'EXPORTERS',
    'IMPORTERS',
    'LossAccount',
    'MESSAGE_ROLES',
    'RULE_IDS',
    'TARGETS',
    'changedSince',
    'checkHistory',
    'checkRequest',
    'contextOf',
    'fingerprintOf',
    'folderOf',
    'fromAiSdkMessages',
    'hasMedia',
    'isBlankMessage',
    'messageFromJson',
    'messageToJson',
    'openTranscript',
    'project',
    'readMessages',
    'registerTranscriptFormat',
    'repairHistory',
    'sourceOf',
    'textOf',
    'toolCallsOf',
    'toolResultOf',
    'type AiSdkMessage',
    'type AiSdkRequest',
    'type AnthropicRequest',
    'type ContentPart',
    'type EntryFormat',
    'type ExportOptions',
    'type GeminiRequest',
    'type HistoryFacts',
    'type LossItem',
    'type LossReport',
    'type Media',
    'type MediaPart',
    'type Message',
    'type MessageRole',
    'type NoteCode',
    'type OpenAiChatRequest',
    'type OpenAiResponsesRequest',
    'type OpenTranscript',
    'type Origin',
    'type Projection',
    'type ProjectionNote',
    'type ProjectionTarget',
    'type ProviderItem',
    'type ReadMessages',
    'type ReadMessagesOptions',
    'type ReasoningItem',
    'type ReasoningPart',
    'type Repair',
    'type RepairCode',
    'type RepairedHistory',
    'type RequestChange',
    'type RequestFingerprint',
    'type RequestOf',
    'type RequestViolation',
    'type RuleId',
    'type TargetLimits',
    'type TargetName',
    'type TextPart',
    'type ToolCallPayload',
    'type ToolCallSpec',
    'type ToolResultPayload',
    'type TranscriptExporter',
    'type TranscriptHead',
    'type TranscriptImporter',
    'type TranscriptItem',
    'type TranscriptSource',
    'type Violation',
  ],
  './agent': [
    'Agent',
    'AgentContext',
    'AgentFactory',
    'AgentRuntimeState',
    'OfflineModel',
    'ScriptedModel',
    'SystemPromptStep',
    'ToolsStep',
    'WorkingContext',
    'WorkingContextSnapshotRestoreStep',
    'WorkspaceStep',
    'captureAgent',
    'checkpointAgent',
    'createAgent',
    'decideApproval',
    'erase',
    'forkAgent',
    'generateTextWith',
    'openAgent',
    'openWorkingContext',
    'restoreAgent',
    'restoreSession',
    'resumeErasures',
    'type AgentConfig',
    'type AgentEvent',
    'type AgentEvents',
    'type AgentFork',
    'type AgentImage',
    'type AgentMoment',
    'type AgentStateOptions',
    'type AgentStatus',
    'type ApprovalDecision',
    'type ApprovalRequest',
    'type ApprovalVerdict',
    'type Approve',
    'type BootstrapStep',
    'type CallLogging',
    'type CheckpointAgentOptions',
    'type ContentMessage',
    'type EnqueueOptions',
    'type EraseOptions',
    'type ErasedPlace',
    'type ErasureAmount',
    'type ErasureReport',
    'type ErasureTarget',
    'type ForkOptions',
    'type ForkedFrom',
    'type FromCheckpoint',
    'type FromCheckpointInit',
    'type HostCall',
    'type HostCallLogging',
    'type HostMessage',
    'type HostStep',
    'type InputMode',
    'type LanguageModel',
    'type ModelEvent',
    'type ModelRequest',
    'type PartTarget',
    'type PartsMessage',
    'type QueuedInput',
    'type RecordOptions',
    'type RecordedAnswer',
    'type RestoreAgentOptions',
    'type RetryOptions',
    'type RunToolOptions',
    'type ScriptStep',
    'type ScriptedAnswer',
    'type ScriptedCall',
    'type StopOptions',
    'type StoredDecision',
    'type StreamedResponse',
    'type TokenUsage',
    'type TurnOptions',
    'type TurnResult',
    'type TypedItem',
    'type WaitingApproval',
    'type WorkingContextOptions',
    'waitingApprovals',
  ],
  './ai-sdk': ['aiSdkModel', 'type AiSdkModelOptions'],
  './state': [
    'ROOT_VARIABLE',
    'SESSION_HEADER',
    'SESSION_STATUSES',
    'SESSION_VARIABLE',
    'SHARED_LIMITS',
    'SessionTree',
    'SharedSessions',
    'SharedState',
    'StateManager',
    'agentState',
    'defineState',
    'definitionOf',
    'documentNames',
    'migrateDocuments',
    'recoverSharedState',
    'sessionEnvironment',
    'sessionFromEnvironment',
    'sharedStateTools',
    'stateText',
    'stateTools',
    'taskBoard',
    'type BatchResult',
    'type ChangeKeyOptions',
    'type ChangeOptions',
    'type ChangeQuery',
    'type CommitOptions',
    'type EditMerge',
    'type EditProblem',
    'type KeyHistory',
    'type KeyOperation',
    'type MergeConflict',
    'type MigrateOptions',
    'type Migration',
    'type MigrationResult',
    'type MountedState',
    'type NewTreeSession',
    'type OperationResult',
    'type OrphanSession',
    'type PatchOptions',
    'type RefusedEdit',
    'type SessionQuery',
    'type SessionStatus',
    'type SessionTreeOptions',
    'type SharedLimits',
    'type SharedSessionsOptions',
    'type SharedStateEvents',
    'type SharedStateOptions',
    'type SharedStateToolOptions',
    'type StateChange',
    'type StateDefinition',
    'type StateDocuments',
    'type StateEvent',
    'type StateEventKind',
    'type StateInspection',
    'type StateKey',
    'type StateManagerEvents',
    'type StateOf',
    'type StateOperation',
    'type StateOptions',
    'type StateSchema',
    'type StateSnapshot',
    'type StateSummary',
    'type StateTask',
    'type StateTextOptions',
    'type StateToolOptions',
    'type StateUpdate',
    'type StateView',
    'type SummaryOptions',
    'type TreeSession',
    'type UpdateContext',
    'type VersionCondition',
  ],
  './workspace': [
    'Plans',
    'SessionManager',
    'ToolCallLog',
    'Workspace',
    'WorkspaceConfig',
    'selectContext',
    'type AgentState',
    'type AgentTiming',
    'type CallReach',
    'type ContextBudget',
    'type ContextDependencies',
    'type ContextKey',
    'type ContextRequest',
    'type ContextStatus',
    'type Entry',
    'type EntryInfo',
    'type EntrySchemas',
    'type EntryVersion',
    'type NewSession',
    'type PruneOptions',
    'type PruneReport',
    'type SelectiveContext',
    'type Session',
    'type SessionAgent',
    'type SessionBorder',
    'type SessionBorderOptions',
    'type SessionFilter',
    'type SessionSnapshot',
    'type TimingMetrics',
    'type ToolCallEntry',
    'type ToolCallLogOptions',
    'type ToolCallQuery',
    'type ToolCallRecord',
    'type WorkspaceEvents',
    'type WorkspaceOptions',
    'type WorkspaceScope',
    'type WorkspaceSnapshot',
    'type WorkspaceToolOptions',
    'type WriteNote',
    'type WriteOptions',
    'type WriteResult',
    'workspaceTools',
  ],
  './checkpoints': [
    'CheckpointService',
    'DEFAULT_BUDGETS',
    'DEFAULT_RULES',
    'EnvironmentKeys',
    'KeyFile',
    'Keychain',
    'StoredKeys',
    'byLayer',
    'checkpointId',
    'checkpointMetrics',
    'checkpointTools',
    'classify',
    'compileRules',
    'dataFolder',
    'masterKeyOf',
    'parseCheckpointId',
    'type CheckpointConfig',
    'type CheckpointConfigInit',
    'type CheckpointMetadata',
    'type CheckpointOperation',
    'type CheckpointScope',
    'type CheckpointServiceOptions',
    'type CheckpointStats',
    'type CheckpointStatus',
    'type CheckpointToolOptions',
    'type ClassificationRule',
    'type ClassificationRules',
    'type ClassifiedContext',
    'type ContextLayer',
    'type ContextView',
    'type KeyVerdict',
    'type ListQuery',
    'type LoadParams',
    'type LoadedCheckpoint',
    'type MarkParams',
    'type MasterKey',
    'type MasterKeys',
    'type OperationKind',
    'type Page',
    'type PruneOptions',
    'type PruneReason',
    'type PruneReport',
    'type PrunedCheckpoint',
    'type RotateOptions',
    'type RotationReport',
    'type SaveParams',
    'type SaveResult',
    'type SecretPlace',
    'type SessionHead',
    'type SessionInfo',
    'type SessionProblem',
    'type SessionRepair',
    'type ShownKey',
    'type VerifyOptions',
    'type VerifyProblem',
    'type VerifyReport',
    'viewContext',
  ],
  './server': [
    'TokenBook',
    'loadServerToken',
    'startServer',
    'type Authenticate',
    'type NewToken',
    'type Principal',
    'type RunningServer',
    'type ServerOptions',
    'type ServerToken',
    'type TokenInfo',
    'type TokenScope',
  ],
  './mcp': ['McpTools', 'serveMcpStdio', 'type McpCaller', 'type McpStdioOptions'],
  './storage': [
    'AuditLog',
    'EnvironmentKeys',
    'FileStorage',
    'KeyFile',
    'Keychain',
    'MemoryStorage',
    'Redactor',
    'StoredKeys',
    'auditRecords',
    'copyStorage',
    'decodeNameSegment',
    'encodeNameSegment',
    'hasAuditLog',
    'isStorageUrl',
    'listTenants',
    'masterKeyOf',
    'openStorage',
    'type AppendOptions',
    'type AppendResult',
    'type AuditAction',
    'type AuditEntry',
    'type AuditHead',
    'type AuditLogOptions',
    'type AuditProblem',
    'type AuditRecord',
    'type AuditVerification',
    'type BlobInfo',
    'type Blobs',
    'type CopyOptions',
    'type CopyProgress',
    'type CopyResult',
    'type Cursor',
    'type DataKeyInfo',
    'type Detector',
    'type DocumentDurability',
    'type DocumentWriteOptions',
    'type Documents',
    'type DurabilityMode',
    'type Environment',
    'type FileStorageOptions',
    'type Finding',
    'type Journal',
    'type JournalDamage',
    'type JournalEntry',
    'type JournalHead',
    'type JournalOptions',
    'type JournalRecord',
    'type KeyProvider',
    'type KeyRotation',
    'type Lease',
    'type LeaseOptions',
    'type LeaseOwner',
    'type Leases',
    'type MasterKey',
    'type MasterKeys',
    'type Meter',
    'type Name',
    'type PatternInit',
    'type ReadOptions',
    'type RedactionAction',
    'type RedactionOptions',
    'type SealedStorage',
    'type SecretPlace',
    'type Span',
    'type StorageBackend',
    'type StorageCapabilities',
    'type StorageChange',
    'type StorageRedactor',
    'type StorageWarning',
    'type StoredBlob',
    'type StoredName',
    'type StoredPlace',
    'type Telemetry',
    'type TelemetryAttributes',
    'type TelemetryOptions',
    'type Tracer',
    'type VerifyAuditOptions',
    'type WrappedDataKey',
    'verifyAudit',
    'withRedaction',
    'withSealing',
    'withTelemetry',
    'withTenant',
  ],
  './storage/sqlite': ['SqliteStorage', 'type SqliteStorageOptions'],
  './storage/postgres': ['PostgresStorage', 'type PostgresStorageOptions'],
  './storage/objects': [
    'LocalObjects',
    'ObjectBlobs',
    'ObjectsStorage',
    'S3Objects',
    'UcVolumesObjects',
    'openObjects',
    'type ConditionalObjects',
    'type ObjectEntry',
    'type ObjectInfo',
    'type ObjectStorage',
    'type ObjectsStorageOptions',
    'type RetryOptions',
    'type S3ObjectsOptions',
    'type UcVolumesOptions',
    'type VersionedObject',
    'type WithObjectsOptions',
    'type WriteCondition',
    'withObjects',
  ],
  './langgraph': [
    'BigIntSerializer',
    'RekindleSaver',
    'RekindleStore',
    'fitMessages',
    'type FitMessagesHook',
    'type FitMessagesOptions',
    'type RekindleSaverOptions',
    'type RekindleStoreOptions',
  ],
  './openai-agents': ['RekindleSession', 'fitInput', 'type FitInputOptions', 'type RekindleSessionOptions'],
  './claude-agent': [
    'RekindleSessionStore',
    'type FoldSessionSummary',
    'type RekindleSessionStoreOptions',
    'type SessionKey',
    'type SessionStoreEntry',
    'type SessionSummaryEntry',
  ],
  './testing': [
    'FaultyFileSystem',
    'ManualClock',
    'SimulatedDisk',
    'countCalls',
    'failAt',
    'failEvery',
    'faultyStorage',
    'loseAnswerAt',
    'noFaults',
    'runFaultConformance',
    'runStorageConformance',
    'type CallCounter',
    'type Clock',
    'type CrashOptions',
    'type CrashState',
    'type Fault',
    'type FaultPlan',
    'type FaultyCall',
    'type FileStat',
    'type FileSystem',
    'type OpenFile',
    'type OpenMode',
    'type OpenedStorage',
    'type SimulatedDiskOptions',
    'type StorageCall',
    'type StorageFault',
    'type StorageOperation',
    'type StorageTarget',
    'type TestRunner',
  ],
};

/** Exported names of a file as they stand in it; types are marked. */
function exportedNames(file: string): string[] {
  const tree = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2023, true);
  return tree.statements
    .flatMap((statement) => {
      if (!ts.isExportDeclaration(statement) || !statement.exportClause) return [];
      if (!ts.isNamedExports(statement.exportClause)) return [`* as ${statement.exportClause.name.text}`];
      return statement.exportClause.elements.map((element) =>
        statement.isTypeOnly || element.isTypeOnly ? `type ${element.name.text}` : element.name.text,
      );
    })
    .sort();
}

interface PackageUse {
  /** Needed to load or run the program. */
  readonly value: Set<string>;
  /** Imported for its types, or with `import()`. */
  readonly typeOrLazy: Set<string>;
}

function packagesUsed(): PackageUse {
  const use: PackageUse = { value: new Set(), typeOrLazy: new Set() };
  const files = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const tree = ts.createSourceFile(file, read(path.join('src', file)), ts.ScriptTarget.ES2023, true);
    collect(tree, use);
  }
  return use;
}

function collect(node: ts.Node, use: PackageUse): void {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
    const typeOnly = ts.isImportDeclaration(node)
      ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : node.isTypeOnly;
    note(node.moduleSpecifier, typeOnly ? use.typeOrLazy : use.value);
  } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    note(node.argument.literal, use.typeOrLazy);
  } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    if (node.arguments[0]) note(node.arguments[0], use.typeOrLazy);
  } else if (ts.isCallExpression(node) && node.expression.getText() === 'import.meta.resolve') {
    if (node.arguments[0]) note(node.arguments[0], use.value); // served as it is
  }
  ts.forEachChild(node, (child) => collect(child, use));
}

function note(specifier: ts.Node, into: Set<string>): void {
  if (!ts.isStringLiteralLike(specifier) || specifier.text.startsWith('.')) return;
  const parts = specifier.text.split('/').slice(0, specifier.text.startsWith('@') ? 2 : 1);
  const name = parts.join('/');
  if (!name.startsWith('node:') && !builtinModules.includes(name)) into.add(name);
}

describe('entry points', () => {
  const subpaths = Object.entries(manifest.exports).filter(
    (entry): entry is [string, Conditions] => typeof entry[1] !== 'string',
  );

  it.each(subpaths)(
    '%s gives an ES module to all who can take one, else the build for require',
    (subpath, target) => {
      expect(Object.keys(target)).toEqual(['import', 'module-sync', 'require', 'default']);
      const { import: built, require: required } = target;
      expect([target['module-sync'], target.default]).toEqual([built, built.default]);
      expect(Object.keys(built), 'types come first').toEqual(['types', 'default']);
      for (const file of Object.values(built)) {
        expect(existsSync(path.join(ROOT, sourceOf(file))), `${file} needs ${sourceOf(file)}`).toBe(true);
      }
      const name = subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-');
      const types = built.types.replace('./dist/', './dist/require/types/');
      expect(required).toEqual({ types, default: `./dist/require/${name}.js` });
    },
  );

  it('are known to a TypeScript that does not read `exports`', () => {
    const types = subpaths
      .filter(([subpath]) => subpath !== '.')
      .map(([subpath, target]) => [subpath.slice(2), [target.import.types]]);
    expect(manifest.typesVersions).toEqual({ '*': Object.fromEntries(types) });
  });

  it('are all listed in NAMES of this test', () => {
    expect(Object.keys(NAMES), 'add the new subpath and its names to NAMES').toEqual(
      subpaths.map(([subpath]) => subpath),
    );
  });

  it.each(Object.entries(NAMES))('%s exports these names and no others', (subpath, names) => {
    const target = manifest.exports[subpath] as Conditions;
    expect(
      exportedNames(sourceOf(target.default)),
      'A new name: add it to NAMES and to CHANGELOG.md. A name that is gone: say in CHANGELOG.md what takes its place.',
    ).toEqual(names);
  });

  it('are explicit: an index only passes names on', () => {
    for (const [, { default: built }] of subpaths) {
      const tree = ts.createSourceFile(built, read(sourceOf(built)), ts.ScriptTarget.ES2023, true);
      const others = tree.statements.filter((statement) => !ts.isExportDeclaration(statement));
      expect(
        others.map((statement) => statement.getText()),
        `${sourceOf(built)} has code of its own`,
      ).toEqual([]);
    }
  });

  it('say main and types for tools that do not read `exports`', () => {
    const root = manifest.exports['.'] as Conditions;
    expect([manifest.types, manifest.main]).toEqual([root.import.types, root.default]);
  });

  it('hold the schemas of the built-in documents, each by the name of its file', () => {
    const files = readdirSync(path.join(ROOT, 'schemas')).map((file) => `./schemas/${file}`);
    expect(files.sort()).toEqual(['./schemas/agent-state.json', './schemas/task-board.json']);
    for (const file of files) expect(manifest.exports[file]).toBe(file);
  });

  it('let tools read package.json', () => {
    expect(manifest.exports['./package.json']).toBe('./package.json');
  });
});

describe('files', () => {
  it('name the program, which starts with a line for the shell', () => {
    expect(manifest.bin).toEqual({ rekindle: './dist/cli/main.js' });
    expect(read(sourceOf(manifest.bin['rekindle']!))).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('hold what is built, the documentation and the licence', () => {
    expect(manifest.files).toEqual(['dist', 'docs', 'schemas', 'README.md', 'CHANGELOG.md', 'LICENSE']);
  });

  it.each(manifest.files.filter((file) => file !== 'dist'))('include %s, which exists', (file) => {
    expect(existsSync(path.join(ROOT, file))).toBe(true);
  });
});

/** What a subpath is for: whoever imports `rekindle/langgraph` has it. `test/architecture.test.ts` keeps it out of everything else. */
const SUBPATH_ONLY = ['@langchain/langgraph-checkpoint'];

describe('dependencies', () => {
  const used = packagesUsed();
  const optional = Object.keys(manifest.peerDependencies ?? {}).sort();

  it('are the packages that the source imports, and no others', () => {
    const imported = [...new Set([...used.value, ...used.typeOrLazy])];
    expect(
      imported.filter((name) => !optional.includes(name)).sort(),
      'declare what src imports in `dependencies` (or as an optional peer), and take out what it does not',
    ).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it('that are peers are optional, are imported, and are never needed at start', () => {
    expect(optional, 'a package that only some programs need is an optional peer').toContain('ai');
    for (const name of optional) {
      expect(manifest.peerDependenciesMeta?.[name]?.optional, `${name} must be optional`).toBe(true);
      expect(used.typeOrLazy.has(name), `${name} is a peer, but src does not import it`).toBe(true);
      const needed = used.value.has(name) && !SUBPATH_ONLY.includes(name);
      expect(needed, `${name} is optional: load it with import()`).toBe(false);
    }
  });

  it('that are peers are installed for the tests', () => {
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(optional));
  });

  it('are ranges, so that an application gets patches; the lock file says what a clone gets', () => {
    const fixed = Object.entries(manifest.dependencies).filter(
      ([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range),
    );
    expect(fixed).toEqual([]);
  });

  it('for development have exact versions', () => {
    const loose = Object.entries(manifest.devDependencies).filter(
      ([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+(-beta\.\d+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  it('each have their reason in docs/decisions/0004-dependencies.md', () => {
    const text = read('docs/decisions/0004-dependencies.md');
    const missing = [...Object.keys(manifest.dependencies), ...optional].filter(
      (name) => !text.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });
});

describe('README.md', () => {
  const readme = () => read('README.md').replace(/\s*&&\s*/g, ' && ');

  it.each(['npm ci && npm run demo', 'npm ci && npm test'])('has the command %s', (command) => {
    expect(readme()).toContain(command);
  });
});

describe('documentation', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pagesBelow('docs')];

  it.each(pages)('%s links only to pages and headings that exist', (page) => {
    const broken = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  it.each(pagesBelow('docs/formats'))('%s has examples that a reader accepts', async (page) => {
    for (const block of codeBlocks(read(page))) {
      for (const line of block.split('\n').filter((text) => text.includes('"_crc":"'))) {
        expect(decodeLine(Buffer.from(line)).kind, line).not.toBe('damage');
      }
      if (!block.startsWith('{"schema_version"')) continue;
      expect(await decodeSnapshot(Buffer.from(block), null)).toMatchObject({ status: 'valid' });
    }
  });

  it.each(['shared/chat.mjs', 'next/app/api/chat/route.js', 'express/server.mjs', 'hono/server.mjs'])(
    'docs/web-servers.md shows %s, which is run by test:consumers',
    (file) => {
      expect(codeBlocks(read('docs/web-servers.md'))).toContain(read(`test/consumers/${file}`));
    },
  );

  it('docs/threat-model.md names tests and scripts that exist', () => {
    const named = [...read('docs/threat-model.md').matchAll(/`(test\/[^`]+)`|`npm run ([a-z:]+)/g)];
    expect(named.length).toBeGreaterThan(15);
    const absent = named.filter(([, file, script]) =>
      file ? !existsSync(path.join(ROOT, file)) : manifest.scripts[script!] === undefined,
    );
    expect(absent.map(([text]) => text)).toEqual([]);
  });

  it('docs/cli.md has a section for each command, and docs/formats a page for each file of an agent', () => {
    const commands = readdirSync(path.join(ROOT, 'src/cli'))
      .flatMap((file) => [...read(`src/cli/${file}`).matchAll(/\.command\('([a-z]+)/g)])
      .map((match) => match[1]!);
    expect(commands.length).toBeGreaterThan(5);
    const headings = read('docs/cli.md').split('\n');
    expect(commands.filter((command) => !headings.includes(`## ${command}`))).toEqual([]);
    const files = [...MEMORY_JOURNALS, path.parse(SNAPSHOT_FILE).name, 'artifacts', 'lease'];
    expect(files.filter((file) => !existsSync(path.join(ROOT, 'docs/formats', `${file}.md`)))).toEqual([]);
  });
});

function pagesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file.replaceAll(path.sep, '/')}`)
    .sort();
}

function codeBlocks(text: string): string[] {
  return [...text.matchAll(/^```[a-z]*\n(.*?)^```/gms)].map((match) => match[1]!);
}

/** A link to a file or folder, perhaps with a heading of it. */
function leadsSomewhere(page: string, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target);
  if (!existsSync(path.join(ROOT, file))) return false;
  if (anchor === undefined) return true;
  const anchors = [...read(file).matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return anchors.includes(anchor);
}
