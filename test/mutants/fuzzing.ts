/** Faults that the fuzzer is for: one or more for each kind of way in. */
import { inFile, type Mutant } from './mutant.js';

function fuzz(target: string, inputs = 3_000): readonly string[] {
  return ['test/fuzz/run.ts', '--target', target, '--inputs', String(inputs), '--jobs', '1', '--seed', '1'];
}

export const fuzzing: readonly Mutant[] = [
  ...inFile('src/server/websocket/client-message.ts', fuzz('frames'), [
    ['frame-raw-error', ': tryParseJson(text);', ': (JSON.parse(text) as JsonValue);'],
    [
      'frame-unhandled-rejection',
      ': tryParseJson(text);',
      ": tryParseJson(text);\n  if (value === undefined) void Promise.reject(new TypeError('no JSON'));",
    ],
  ]),
  ...inFile('src/storage/file/journal-line.ts', fuzz('journal-lines'), [
    [
      'line-raw-error',
      'const record = tryParseJsonKeepingDigits(line.toString',
      'const record = JSON.parse(line.toString',
    ],
  ]),
  ...inFile('src/core/merge-patch.ts', fuzz('merge-patches'), [
    [
      'merge-patch-changes-every-object',
      'const merged = isJsonObject(target) ? copyOf(target) : {};',
      "const merged = isJsonObject(target) ? copyOf(target) : {};\n  if (Object.hasOwn(patch, '__proto__')) Object.assign(Object.prototype, patch['__proto__']);",
    ],
    [
      'merge-patch-loses-a-key',
      'else setOwn(merged, key, mergePatch',
      'else Reflect.set(merged, key, mergePatch',
    ],
  ]),
  ...inFile('src/checkpoints/classify/rules.ts', fuzz('rules', 200), [
    [
      'rule-that-never-ends',
      'return engine.compile(pattern);',
      'return { programSize: () => 1, test: (text: string) => new RegExp(pattern).test(text) } as never;',
    ],
  ]),
  ...inFile('src/memory/store/snapshot-file.ts', fuzz('snapshots'), [
    [
      'snapshot-raw-error',
      "return damaged(thrown instanceof Error ? thrown.message : 'a message cannot be read');",
      'throw thrown;',
    ],
  ]),
  ...inFile('src/messages/message-serializer.ts', fuzz('messages', 6_000), [
    ['medium-of-no-type', "['mime', 'name'].every((key) => isOptionalText(media[key]))", 'true'],
  ]),
  ...inFile('src/server/http/http-app.ts', fuzz('http', 1_000), [
    [
      'body-raw-error',
      'return JSON.parse(text) as JsonValue;\n  } catch (cause) {',
      'return JSON.parse(text) as JsonValue;\n  } catch (cause) {\n    throw cause;',
    ],
  ]),
];
