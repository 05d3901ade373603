import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CheckpointConfigInit,
  checkpointConfig,
  DEFAULT_CONFIG,
} from '../../src/checkpoints/config/checkpoint-config.js';
import { dataFolder, defaultKeyFile } from '../../src/checkpoints/config/data-folder.js';
import { child, errorOf, linesOf, Place, thrownBy } from './checkpoint-kit.js';

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(checkpointConfig()).toEqual(DEFAULT_CONFIG);
    expect(DEFAULT_CONFIG).toEqual({
      storage: {
        maxCheckpoints: 100,
        maxSessionSize: 1024 ** 3,
        maxTotalSize: 1024 ** 3,
        maxAgeDays: 30,
        pruneEveryHours: 24,
        orphanGraceMinutes: 60,
      },
      compression: { enabled: true, algorithm: 'gzip', level: 'standard', minSizeForCompression: 1_024 },
      encryption: { enabled: null, provider: null, keyFile: null },
      classification: { rulesPath: null, enableHeuristics: true },
      timeouts: { queryMs: 5_000, fileMs: 10_000, lockMs: 15_000 },
      targets: { saveMs: 1_000, loadMs: 500, queryMs: 500 },
    });
  });

  it('is put together of parts, the last of which goes before the others', () => {
    const config = checkpointConfig(
      { storage: { maxCheckpoints: 5, maxAgeDays: 1 } },
      { storage: { maxCheckpoints: 7 }, compression: { enabled: false } },
    );
    expect(config.storage).toEqual({ ...DEFAULT_CONFIG.storage, maxCheckpoints: 7, maxAgeDays: 1 });
    expect(config.compression).toEqual({ ...DEFAULT_CONFIG.compression, enabled: false });
  });

  it('keeps its default where a part says undefined', () => {
    const part = { storage: { maxCheckpoints: undefined }, timeouts: undefined };
    expect(checkpointConfig(part as unknown as CheckpointConfigInit)).toEqual(DEFAULT_CONFIG);
  });

  it('is refused with every violation at once', async () => {
    const wrong = {
      storage: { maxCheckpoints: 0, maxAgeDays: -1, maxTotalSize: '1 GB' },
      compression: { level: 'huge', algorithm: 'lzw' },
      encryption: { provider: 'nowhere' },
      timeouts: { lockMs: 0.5 },
      extra: true,
    } as unknown as CheckpointConfigInit;
    const error = await thrownBy(() => checkpointConfig(wrong));
    expect(error.code).toBe('INVALID_ARGUMENT');
    const violations = error.details['violations'] as { path: string; message: string }[];
    expect(violations.map((violation) => violation.path)).toEqual(
      expect.arrayContaining([
        '',
        '/storage/maxCheckpoints',
        '/storage/maxAgeDays',
        '/storage/maxTotalSize',
        '/compression/level',
        '/compression/algorithm',
        '/encryption/provider',
        '/timeouts/lockMs',
      ]),
    );
    expect(violations.find((violation) => violation.path === '')!.message).toContain('"extra"');
  });

  it('has times that a timer can wait for, and no longer ones', async () => {
    const longest = { queryMs: 2 ** 31 - 1, fileMs: 2 ** 31 - 1, lockMs: 2 ** 31 - 1 };
    expect(checkpointConfig({ timeouts: longest }).timeouts).toEqual(longest);
    for (const name of ['queryMs', 'fileMs', 'lockMs']) {
      const error = await thrownBy(() => checkpointConfig({ timeouts: { [name]: 2 ** 31 } }));
      expect(error).toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: { violations: [{ path: `/timeouts/${name}` }] },
      });
    }
  });

  it('is refused before anything is read or written', async () => {
    const place = await Place.make();
    const service = place.service({ config: { storage: { maxCheckpoints: 0 } } });
    expect((await errorOf(service.save({ sessionId: 's', context: {} }))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(service.list())).code).toBe('INVALID_ARGUMENT');
    expect(await fs.readdir(place.root)).toEqual([]);
    await service.close();
  });

  it('may be in a file beside the checkpoints; what the host says goes before it', async () => {
    const place = await Place.make();
    await place.configure('checkpoints', { storage: { maxCheckpoints: 2, maxSessionSize: 5_000 } });
    expect(await place.service().stats()).toMatchObject({ maxCheckpoints: 2, maxSessionSize: 5_000 });
    const service = place.service({ config: { storage: { maxCheckpoints: 9 } } });
    expect(await service.stats()).toMatchObject({ maxCheckpoints: 9, maxSessionSize: 5_000 });
  });

  it('in a file that is broken is an error with its line, until it is mended', async () => {
    const place = await Place.make();
    await place.configure('checkpoints', '{\n  "storage": {\n    "maxCheckpoints": "many"\n  }\n}\n');
    const service = place.service();
    const error = await errorOf(service.save({ sessionId: 's', context: {} }));
    expect(error).toMatchObject({ code: 'DOCUMENT_DAMAGED', details: { line: 3 } });
    await place.configure('checkpoints', '{ "storage": ');
    expect((await errorOf(service.stats())).code).toBe('DOCUMENT_DAMAGED');
    await place.configure('checkpoints', {});
    expect((await service.save({ sessionId: 's', context: {} })).status).toBe('SAVED');
  });
});

describe('the folder of the data', () => {
  it.each<[NodeJS.Platform, Record<string, string>, string]>([
    ['linux', { HOME: '/home/u' }, '/home/u/.local/share/rekindle'],
    ['linux', { HOME: '/home/u', XDG_DATA_HOME: '/data' }, '/data/rekindle'],
    ['linux', { HOME: '/home/u', XDG_DATA_HOME: '' }, '/home/u/.local/share/rekindle'],
    ['freebsd', { HOME: '/home/u' }, '/home/u/.local/share/rekindle'],
    ['darwin', { HOME: '/Users/u', XDG_DATA_HOME: '/data' }, '/Users/u/Library/Application Support/rekindle'],
    ['win32', { USERPROFILE: 'C:\\Users\\u' }, 'C:\\Users\\u\\AppData\\Local\\rekindle'],
    ['win32', { USERPROFILE: 'C:\\Users\\u', LOCALAPPDATA: 'D:\\Local' }, 'D:\\Local\\rekindle'],
  ])('is that of the platform: %s, %j', (platform, environment, folder) => {
    expect(dataFolder(environment, platform)).toBe(folder);
  });

  it.each(['linux', 'darwin', 'win32'] as const)('is REKINDLE_DATA_DIR where that is set: %s', (platform) => {
    const folder = path.join(os.tmpdir(), 'own');
    const environment = { HOME: '/home/u', XDG_DATA_HOME: '/data', LOCALAPPDATA: 'D:\\Local' };
    expect(dataFolder({ ...environment, REKINDLE_DATA_DIR: folder }, platform)).toBe(folder);
    expect(dataFolder({ REKINDLE_DATA_DIR: 'here' }, platform)).toBe(path.resolve('here'));
    expect(dataFolder({ ...environment, REKINDLE_DATA_DIR: '' }, platform)).not.toContain('own');
  });

  it('is somewhere also where the environment says nothing', () => {
    expect(dataFolder({}, 'linux')).toBe(path.join(os.homedir(), '.local/share/rekindle'));
  });

  it.each(['linux', 'darwin', 'win32'] as const)('is not where the master keys are: %s', (platform) => {
    const environment = { HOME: '/home/u', USERPROFILE: 'C:\\Users\\u' };
    const folder = dataFolder(environment, platform);
    expect(defaultKeyFile(environment, platform).startsWith(folder)).toBe(false);
  });
});

describe('a service without options', () => {
  it('keeps checkpoints beside the agents, needs no network or key, and leaves the folder of earlier releases alone', async () => {
    const place = await Place.make();
    const home = path.join(place.root, 'home');
    await fs.mkdir(home);
    const script = `
      const start = performance.now();
      const service = new CheckpointService();
      const { checkpointId } = await service.save({ sessionId: 's', context: { n: 1 } });
      const { context } = await service.load({ checkpointId });
      await service.close();
      say([context, performance.now() - start]);`;
    const environment = {
      HOME: home,
      USERPROFILE: home,
      REKINDLE_DATA_DIR: path.join(home, 'data'),
      REKINDLE_MEMORY_DIR: path.join(place.root, 'agents here'),
    };
    const [[context, ms]] = (await linesOf(child(place.root, script, environment))) as [[unknown, number]];
    expect(context).toEqual({ n: 1 });
    expect(ms).toBeLessThan(5_000); // on a busy machine
    expect(await fs.readdir(path.join(place.root, 'agents here', 'checkpoints', 'sessions'))).toEqual(['s']);
    expect(await fs.readdir(home)).toEqual([]);
  });

  it('reads and writes nothing before it is used', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.close();
    expect(await fs.readdir(place.root)).toEqual([]);
  });
});
