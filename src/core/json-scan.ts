/** Finds the end of a JSON object in bytes that hold more than one. */

/** The index after the object that starts at `from`, or -1 if the object does not end. Handles strings and escapes. */
export function endOfObject(line: Uint8Array, from: number): number {
  let depth = 0;
  let inString = false;
  for (let index = from; index < line.length; index += 1) {
    const byte = line[index];
    if (inString) {
      if (byte === 0x5c) index += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b) depth += 1;
    else if (byte === 0x7d && --depth === 0) return index + 1;
  }
  return -1;
}
