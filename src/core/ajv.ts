/** The validator. */
import { Ajv2020 } from 'ajv/dist/2020.js';

export function loadAjv(): typeof Ajv2020 {
  return Ajv2020;
}
