/** Personal data with a verifiable form: mail addresses, phone numbers, payment cards, bank accounts, network addresses. */
import { isIP } from 'node:net';
import { type Detector, patternDetector } from './detector.js';

const EMAIL = patternDetector(
  'email',
  /(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![A-Za-z0-9-])/,
  (found) => !found.startsWith('git@'), // an address of a repository
);

/** International with a plus sign, or grouped as in North America. Digits alone are not enough. */
const PHONE = patternDetector(
  'phone',
  /(?<![\w.+-])(\+\d(?:[ ().-]{0,2}\d){7,14}|(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])\d{3}[-. ]\d{4})(?![\w-]|\.\d)/,
);

const CARD = patternDetector('card', /(?<![\w.-])([2-6]\d{3}(?:[ -]?\d){9,15})(?![\w-]|\.\d)/, (found) => {
  const digits = found.replace(/\D/g, '');
  return digits.length >= 13 && digits.length <= 19 && isLuhn(digits) && !/^(\d)\1+$/.test(digits);
});

const IBAN = patternDetector(
  'iban',
  /(?<![A-Za-z0-9])([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![A-Za-z0-9])/,
  isIban,
);

const IPV4 = patternDetector(
  'ip',
  /(?<![\w.-])((?:\d{1,3}\.){3}\d{1,3})(?![\w-]|\.\d)/,
  (found) => isIP(found) === 4 && !/^(?:127\.|0\.|255\.255\.)/.test(found),
);
const IPV6 = patternDetector(
  'ip',
  /(?<![\w:.])([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w:])/,
  (found) => isIP(found) === 6 && !/^[0:]*1?$/.test(found),
);

export const PERSONAL_DETECTORS: readonly Detector[] = [EMAIL, PHONE, CARD, IBAN, IPV4, IPV6];

/** Whether the check digit of a payment card is right. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += index % 2 === 0 ? digit : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the remainder modulo 97 is 1. Letters count from 10. */
function isIban(found: string): boolean {
  const plain = found.replaceAll(' ', '');
  if (plain.length < 15 || plain.length > 34) return false;
  let rest = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
