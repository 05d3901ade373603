/** The configuration of checkpoints. Missing values have defaults; invalid ones are refused. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import type { CompressionOptions } from '../content/compression.js';

/** The complete configuration of checkpoints, as `config/checkpoints.json` stores it. */
export interface CheckpointConfig {
  readonly storage: {
    /** Checkpoints per owner in one session. The oldest are deleted to make room. Default 100. */
    readonly maxCheckpoints: number;
    /** Maximum bytes of one session. Default 1 GiB. */
    readonly maxSessionSize: number;
    /** Maximum bytes of all sessions. Default 1 GiB. */
    readonly maxTotalSize: number;
    /** A save removes older checkpoints of its owner in its session, and `prune` those of all. Null: no age limit. Default 30. */
    readonly maxAgeDays: number | null;
    /** The server prunes so often. Null: never. Default 24. */
    readonly pruneEveryHours: number | null;
    /** Age from which unreferenced data may be removed. Default 60. */
    readonly orphanGraceMinutes: number;
  };
  readonly compression: CompressionOptions;
  readonly encryption: {
    /**
     * Whether new sessions are encrypted. Null, the default: if any session of the store is encrypted. So a
     * program without this setting adds no plain sessions to an encrypted store; `false` does. An encrypted
     * session stays encrypted.
     */
    readonly enabled: boolean | null;
    /**
     * Where master keys are stored. Null, the default: the environment if `REKINDLE_MASTER_KEY` is set and no
     * `keyFile` is given, else `file`.
     */
    readonly provider: KeyProviderName | null;
    /** Default: `master-keys.json` in the configuration folder of the platform. */
    readonly keyFile: string | null;
  };
  readonly classification: {
    /**
     * A file with rules. Default: `config/classification.json` next to the checkpoints, else the built-in
     * rules.
     */
    readonly rulesPath: string | null;
    /** Apply rules about contents, too. Default true. */
    readonly enableHeuristics: boolean;
  };
  readonly timeouts: {
    /** Timeout for lists and metadata, in ms. Default 5,000. */
    readonly queryMs: number;
    /** Timeout for the data of one checkpoint, in ms. Default 10,000. */
    readonly fileMs: number;
    /** Timeout for the lock of a session while others save, in ms. Default 15,000. */
    readonly lockMs: number;
  };
  /** An operation that takes longer, in ms, is reported as slow. */
  readonly targets: {
    /** Default 1,000. */
    readonly saveMs: number;
    /** Default 500. */
    readonly loadMs: number;
    /** Of lists and metadata. Default 500. */
    readonly queryMs: number;
  };
}

export const KEY_PROVIDERS = ['file', 'environment', 'os_keychain'] as const;
export type KeyProviderName = (typeof KEY_PROVIDERS)[number];

/** Any part of a `CheckpointConfig`. */
export type CheckpointConfigInit = {
  readonly [Section in keyof CheckpointConfig]?: Partial<CheckpointConfig[Section]>;
};

export const DEFAULT_CONFIG: CheckpointConfig = {
  storage: {
    maxCheckpoints: 100,
    maxSessionSize: 1024 ** 3,
    maxTotalSize: 1024 ** 3,
    maxAgeDays: 30,
    pruneEveryHours: 24,
    orphanGraceMinutes: 60,
  },
  compression: { enabled: true, algorithm: 'gzip', level: 'standard', minSizeForCompression: 1024 },
  encryption: { enabled: null, provider: null, keyFile: null },
  classification: { rulesPath: null, enableHeuristics: true },
  timeouts: { queryMs: 5_000, fileMs: 10_000, lockMs: 15_000 },
  targets: { saveMs: 1_000, loadMs: 500, queryMs: 500 },
};

const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const whole = (minimum: number) => Type.Optional(Type.Integer({ minimum }));
/** A delay that a timer supports. */
const timer = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));
const flag = Type.Optional(Type.Boolean());
const pathOrNull = Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()]));
const strict = { additionalProperties: false };

const ConfigSchema = Type.Partial(
  Type.Object({
    storage: Type.Object(
      {
        maxCheckpoints: whole(1),
        maxSessionSize: whole(1),
        maxTotalSize: whole(1),
        maxAgeDays: Type.Optional(Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()])),
        pruneEveryHours: Type.Optional(
          Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 500 }), Type.Null()]),
        ),
        orphanGraceMinutes: Type.Optional(Type.Number({ minimum: 0 })),
      },
      strict,
    ),
    compression: Type.Object(
      {
        enabled: flag,
        algorithm: Type.Optional(oneOf(['gzip', 'zstd'])),
        level: Type.Optional(oneOf(['basic', 'standard', 'aggressive'])),
        minSizeForCompression: whole(0),
      },
      strict,
    ),
    encryption: Type.Object(
      {
        enabled: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
        provider: Type.Optional(Type.Union([oneOf(KEY_PROVIDERS), Type.Null()])),
        keyFile: pathOrNull,
      },
      strict,
    ),
    classification: Type.Object({ rulesPath: pathOrNull, enableHeuristics: flag }, strict),
    timeouts: Type.Object({ queryMs: timer, fileMs: timer, lockMs: timer }, strict),
    targets: Type.Object({ saveMs: timer, loadMs: timer, queryMs: timer }, strict),
  }),
  strict,
);

export const checkConfig = lazySchema(ConfigSchema);

/** @throws INVALID_ARGUMENT with every problem */
export function checkpointConfig(...parts: readonly CheckpointConfigInit[]): CheckpointConfig {
  let config = DEFAULT_CONFIG;
  for (const part of parts) {
    if (!checkConfig()(part)) throw invalid(checkConfig().violations() as unknown as JsonValue[]);
    config = merged(config, part);
  }
  return config;
}

function merged(config: CheckpointConfig, part: CheckpointConfigInit): CheckpointConfig {
  const { storage, compression, encryption, classification, timeouts, targets } = config;
  return {
    storage: { ...storage, ...given(part.storage) },
    compression: { ...compression, ...given(part.compression) },
    encryption: { ...encryption, ...given(part.encryption) },
    classification: { ...classification, ...given(part.classification) },
    timeouts: { ...timeouts, ...given(part.timeouts) },
    targets: { ...targets, ...given(part.targets) },
  };
}

/** Drops `undefined` values. */
function given<Section extends object>(section: Section | undefined): Partial<Section> {
  const said = Object.entries(section ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as Partial<Section>;
}

function invalid(violations: JsonValue[]): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', 'The configuration of checkpoints is invalid.', {
    details: { field: 'config', violations },
  });
}
