import { describe, expect, it } from 'vitest';
import { IdTable } from '../../../../src/messages/importers/reading/id-table.js';

describe('a table of ids', () => {
  it('numbers ids in the order of their first mention, however many there are', () => {
    const table = new IdTable();
    const ids = Array.from({ length: 50_000 }, (_, at) => `id-${at}`);
    expect(ids.map((id) => table.numberOf(id))).toEqual(ids.map((_, at) => at));
    expect(ids.map((id) => table.find(id))).toEqual(ids.map((_, at) => at));
    expect(table.size).toBe(50_000);
  });

  it('finds no id that was not mentioned', () => {
    const table = new IdTable();
    table.numberOf('a');
    expect([table.find('b'), table.find(''), table.numberOf('')]).toEqual([-1, -1, -1]);
  });
});
