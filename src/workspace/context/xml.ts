/** Text into XML that stays well-formed whatever the text holds. */

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** For between tags. */
export function xmlText(text: string): string {
  return legal(text).replace(/[&<>]/g, (character) => ESCAPES[character]!);
}

/** With quotes around it, for an attribute. */
export function xmlAttribute(text: string): string {
  return `"${legal(text).replace(/[&<>"'\n\t]/g, (character) => ESCAPES[character]!)}"`;
}

/** XML 1.0 has no place for control characters, halves of characters, and two code points, not even escaped. */
function legal(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000d-\u001f\ufffe\uffff]/g, '\ufffd');
}

/** JSON for between tags, as `JSON.stringify` makes it: what XML has no place for is written as JSON escapes it, so the value stays exact. */
export function xmlJson(json: string): string {
  return json.replace(/[&<>\ufffe\uffff\u007f-\u009f]/g, (character) => {
    return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
