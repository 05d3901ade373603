import { describe, expect, it } from 'vitest';
import { questionTerms, termsOf } from '../../../src/memory/recall/terms.js';

const terms = async (text: string) => (await termsOf(text)).terms;

/** A text is found by a question when they share a term. */
async function meets(text: string, question: string): Promise<boolean> {
  const { terms: own, language } = await termsOf(text);
  const asked = await questionTerms(question, [language]);
  return asked.some((forms) => forms.some((form) => own.includes(form)));
}

describe('the terms of a text', () => {
  it('are stems without words that say nothing', async () => {
    expect(await terms('She was painting the sunrises with him')).toEqual(['paint', 'sunris']);
  });

  it('are the parts of a path and of a name in camel case, and the whole name', async () => {
    expect(await terms('src/userName.ts')).toEqual(['src', 'usernam', 'user', 'name', 'ts']);
  });

  it('are pairs of characters where words have no spaces between them', async () => {
    expect(await terms('東京タワー')).toEqual(['東京', '京タ', 'タワ', 'ワー']);
  });

  it('of a word longer than 64 characters are its beginning', async () => {
    expect(await terms('a1'.repeat(100))).toEqual(['a1'.repeat(32)]);
  });

  it('are none for a text without words', async () => {
    expect(await terms('… !!! 🎉')).toEqual([]);
  });

  it.each([
    ['german', 'Die Katzen schlafen auf dem Sofa und sind nicht hungrig', 'Wo ist die Katze?'],
    ['french', 'Nous avons mangé des pommes dans le jardin avec elle', 'Qui a des pommes ?'],
    ['spanish', 'Los niños jugaban con el perro en la casa', '¿Dónde está la casa de los niños?'],
    ['russian', 'Мы купили новые книги', 'Какую книгу мы купили?'],
    ['english', 'We bought two bicycles last week', 'which bicycle'],
    ['chinese', '我们昨天去了北京大学', '北京'],
  ])('of %s meet those of a question about it', async (_language, text, question) => {
    expect(await meets(text, question)).toBe(true);
  });

  it('meet those of a question that is too short to tell its language', async () => {
    expect(
      await meets('Die Rechnungen sind nicht bezahlt und der Kunde wartet auf eine Antwort', 'Rechnung'),
    ).toBe(true);
  });

  it('do not depend on accents', async () => {
    expect(await meets('We met in the café', 'cafe')).toBe(true);
  });
});
