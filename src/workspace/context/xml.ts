/** Escapes text so that the XML stays well-formed for any content. */

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** Escapes text between tags. */
export function xmlText(text: string): string {
  return legal(text).replace(/[&<>]/g, (character) => ESCAPES[character]!);
}

/** Escapes an attribute and adds the quotes. */
export function xmlAttribute(text: string): string {
  return `"${legal(text).replace(/[&<>"'\n\t]/g, (character) => ESCAPES[character]!)}"`;
}

/**
 * XML 1.0 does not allow control characters, unpaired surrogates, and two other code points, not even
 * escaped.
 */
function legal(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000d-\u001f\ufffe\uffff]/g, '\ufffd');
}

/**
 * JSON text between tags. Characters that XML does not allow become JSON escapes, so the value stays exact.
 */
export function xmlJson(json: string): string {
  return json.replace(/[&<>\ufffe\uffff\u007f-\u009f]/g, (character) => {
    return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
