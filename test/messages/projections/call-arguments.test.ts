import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import { argumentsObjectOf, argumentsTextOf } from '../../../src/messages/projections/call-arguments.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { user } from '../arbitraries.js';
import { callOf, callsOf, codesOf, resultOf } from './projection-kit.js';

const LARGE = '9007199254740993';

function call(args: JsonValue, argumentsText?: string) {
  return callOf('c', { arguments: args, ...(argumentsText === undefined ? {} : { argumentsText }) });
}

describe('arguments as text', () => {
  it('are what the model wrote, byte for byte', () => {
    const text = '{ "b":1,\n"a" : "\\u00e9" , "a":"é" }';
    expect(argumentsTextOf(call({ b: 1, a: 'é' }, text))).toBe(text);
  });

  it('are made of the object where the model’s text is not there', () => {
    expect(argumentsTextOf(call({ b: 1, a: 'é' }))).toBe('{"b":1,"a":"é"}');
  });

  it.each(['{"n": 2}', '{"n": 1', '[1]', '', 'null', '"{}"'])(
    'are made of the object where the text %j says something else',
    (text) => {
      expect(argumentsTextOf(call({ n: 1 }, text))).toBe('{"n":1}');
    },
  );

  it('keep the digits of an integer that the object has rounded', () => {
    const text = `{"id": ${LARGE}}`;
    expect(argumentsTextOf(call({ id: Number(LARGE) }, text))).toBe(text);
  });

  it('keep the digits of an integer that the object has as text', () => {
    const text = `{"id": ${LARGE}}`;
    expect(argumentsTextOf(call({ id: LARGE }, text))).toBe(text);
  });

  it('do not bring half a surrogate pair back', () => {
    expect(argumentsTextOf(call({ q: '\ufffd' }, '{"q": "\\ud83d"}'))).toBe('{"q":"\ufffd"}');
  });
});

describe('arguments as an object', () => {
  it('are those of the call', () => {
    expect(argumentsObjectOf(call({ a: [1] }, '{"a": [1]}'))).toStrictEqual({
      value: { a: [1] },
      hasLargeInteger: false,
    });
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('have the integer %s as its digits', (digits, text) => {
    const given = call({ deep: [{ id: Number(digits) }] }, `{"deep": [{"id": ${digits}}]}`);
    expect(argumentsObjectOf(given)).toStrictEqual({
      value: { deep: [{ id: text }] },
      hasLargeInteger: true,
    });
  });

  it('have the largest integer that a number can hold as a number', () => {
    const given = call({ id: 9007199254740991 }, '{"id": 9007199254740991}');
    expect(argumentsObjectOf(given)).toStrictEqual({
      value: { id: 9007199254740991 },
      hasLargeInteger: false,
    });
  });

  it('have digits within a text, and fractions, as they are', () => {
    const args = { s: `no. ${LARGE}`, f: 1.5e300 };
    expect(argumentsObjectOf(call(args, JSON.stringify(args)))).toStrictEqual({
      value: args,
      hasLargeInteger: false,
    });
  });

  it('are those of the call where the text has a large integer and says something else', () => {
    expect(argumentsObjectOf(call({ path: '/tmp' }, `{"path": "/etc", "id": ${LARGE}}`))).toStrictEqual({
      value: { path: '/tmp' },
      hasLargeInteger: false,
    });
  });

  it('do not bring half a surrogate pair back beside a large integer', () => {
    const given = call({ q: '\ufffd', id: Number(LARGE) }, `{"q": "\\ud83d", "id": ${LARGE}}`);
    expect(JSON.stringify(argumentsObjectOf(given).value).isWellFormed()).toBe(true);
    expect(argumentsObjectOf(given).value['q']).toBe('\ufffd');
  });
});

describe.each(TARGETS)('a call in a request to %s', (target) => {
  const request = (args: JsonValue, text?: string) =>
    project(target, [user('go'), callsOf([call(args, text)]), resultOf('c', 'x')]);

  it('shows the digits of a large integer', () => {
    const projected = request({ id: Number(LARGE) }, `{"id": ${LARGE}}`);
    expect(JSON.stringify(projected.request)).toContain(LARGE);
    expect(JSON.stringify(projected.request)).not.toContain(String(Number(LARGE)));
  });

  it('says in a note where digits are given as text', () => {
    const takesText = target === 'openai-chat' || target === 'openai-responses';
    expect(
      codesOf(request({ id: Number(LARGE) }, `{"id": ${LARGE}}`)).includes('large-integer-as-text'),
    ).toBe(!takesText);
  });

  it.each<[string, JsonValue]>([
    ['cut off', '{"path": "/tm'],
    ['a list', ['a', 1]],
    ['encoded twice', '"{\\"path\\":\\"/tmp\\"}"'],
    ['null', null],
    ['a number', 7],
  ])('is legal when its arguments are %s', (_, args) => {
    const projected = request(args);
    expect(checkRequest(target, projected.request)).toStrictEqual([]);
    expect(codesOf(projected)).toContain('repaired');
  });
});
