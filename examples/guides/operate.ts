/**
 * Operate: check a store, back it up, lose it, restore it, move it to SQLite, and erase an agent for good.
 *
 *     npx tsx examples/guides/operate.ts
 *
 * It runs the commands of the command line one after the other, and stops if one does not exit as expected.
 */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { OfflineModel, openAgent } from '../../src/index.js';
import { inNewFolder } from '../support/lives.js';
import { rekindle } from '../support/rekindle-command.js';

inNewFolder();
const agent = await openAgent('desk', { model: new OfflineModel({ wordMs: 0 }), memoryDir: 'memory' });
await agent.send('Order 4711 ships on Friday.');
await agent.stop();

// Check the settings and the files. Exit code 1 if there is a problem.
rekindle(['doctor']);

// Back up. The copy is read back, and each agent must restore to the same context.
rekindle(['copy', '--from', './memory', '--to', './backup']);

// The disk is gone. Put the folder back, and check every record before you use it.
rmSync('memory', { recursive: true });
cpSync('backup', 'memory', { recursive: true });
rekindle(['verify']);
const report = rekindle(['restore', 'desk']); // what a start would give; changes nothing
assert.match(report, /Order 4711 ships on Friday/);

// Move: the same agent, in a database.
rekindle(['copy', '--from', './memory', '--to', 'sqlite:./agents.db']);

// Erase for good, then look at the bytes. Without `--yes` the command only lists what would go.
rekindle(['erase', '--agent', 'desk', '--yes']);
rekindle(['erase', '--verify', 'Order 4711']); // exit code 1 if the text is still in ./memory
