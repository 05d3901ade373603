/**
 * Detects the language of a text, as far as stemming needs it, and provides the stemmer.
 *
 * Stemmers come from a library and are loaded when the first text of their language appears. Text without spaces
 * between words (Chinese, Japanese, Thai) needs none: it is indexed by pairs of characters.
 */
export type Stem = (word: string) => string;

/** The most frequent short words of each language: they identify the language and mean nothing to a search. */
const FUNCTION_WORDS = {
  english:
    'a about after again all also am an and any are as at be because been before being but by can could did do does doing during each for from further had has have having he her here hers him his how i if in into is it its just me more most my no nor not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was we were what when where which while who whom why will with would you your yours ll re ve d m s t don hi hey hello oh yes yeah ok okay please thanks thank',
  german:
    'aber als am an auch auf aus bei bin bis da das dass dem den der des die du ein eine einem einen einer er es für hat ich ihr im in ist ja kann mein mit nach nicht noch nur oder sich sie sind so über um und uns von vor war was wenn werden wie wir wird zu zum zur',
  french:
    'au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur mais me mes moi mon ne nous on ou où par pas pour que qui sa se ses son sont sur ta tu un une vous été être',
  spanish:
    'al como con de del el ella en era es esta este está fue ha hay la las le lo los más me mi mis muy no nos o para pero por que qué se si sin sobre son su sus también tu un una y ya yo',
  italian:
    'al alla anche che chi ci come con da dal dalla dei del della di e è era gli ha ho i il in io la le lo ma mi mia mio nel nella non o per più quando questo se sono su sua suo ti tu un una',
  portuguese:
    'ao aos as com como da das de do dos e é ela ele em era esta está eu foi há isso já mais mas me meu minha muito na não nas no nos o os ou para pela pelo por que se sem seu sua são também um uma você',
  dutch:
    'aan als bij dat de die dit een en er haar heb heeft hem het hij hoe ik in is je kan maar met mijn naar niet nog of om ook op over te tot uit van veel voor was wat we wel wij ze zich zijn',
  swedish:
    'att av de den det du där efter eller en ett för från ha han har hon i inte jag kan man med men mig min mycket när och också om på sig som så till under upp var vi är',
  danish:
    'af at blev da de den der det du efter eller en er et for fra han har hun hvad hvor i ikke ind jeg kan man med meget men mig min nu og også om op på sig skal som så til ud var vi vil være',
  finnish:
    'ei että hän he ja jo joka jos kanssa kuin kun mikä minä mutta myös ne niin nyt oli olla on ovat se sen siitä sitä tai tämä vain voi',
  hungarian:
    'a az be csak de egy el én és ez fel ha hogy ki le már még meg mert mi mint nagy nem nincs nekem s sem van vagy volt',
  romanian:
    'a ai al am ar are au ca că ce cea cei cu cum de din după e ea ei el este eu fi fost în la le lui mai mea meu nu o pe pentru prin sa să se sunt și un unei unui',
  turkish:
    'ama bana ben bir bu çok da daha de değil en gibi hem her için ile ise kadar ki mi mu ne o olan olarak sen şu ve veya ya',
  indonesian:
    'ada akan aku anda apa atau dan dari dengan di dia ini itu juga kami kamu ke kita mereka oleh pada saya sebagai sudah tidak untuk yang',
  norwegian:
    'av at ble da de den der det du eller en er et for fra han har hun hva hvor i ikke inn jeg kan man med meget men meg min nå og også om opp på seg skal som så til ut var vi vil være',
} as const;

export type Language = keyof typeof FUNCTION_WORDS | 'russian' | 'ukrainian' | 'greek' | 'arabic';

/** Languages with their own script. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/[іїєґ]/i, 'ukrainian'],
  [/\p{Script=Cyrillic}/u, 'russian'],
  [/\p{Script=Greek}/u, 'greek'],
  [/\p{Script=Arabic}/u, 'arabic'],
];

const NOT_ASCII = /[^\0-\x7f]/;

const LOADERS: Readonly<Record<Language, () => Promise<{ readonly stemmer: Stem }>>> = {
  english: () => import('@orama/stemmers/english'),
  german: () => import('@orama/stemmers/german'),
  french: () => import('@orama/stemmers/french'),
  spanish: () => import('@orama/stemmers/spanish'),
  italian: () => import('@orama/stemmers/italian'),
  portuguese: () => import('@orama/stemmers/portuguese'),
  dutch: () => import('@orama/stemmers/dutch'),
  swedish: () => import('@orama/stemmers/swedish'),
  danish: () => import('@orama/stemmers/danish'),
  norwegian: () => import('@orama/stemmers/norwegian'),
  finnish: () => import('@orama/stemmers/finnish'),
  hungarian: () => import('@orama/stemmers/hungarian'),
  romanian: () => import('@orama/stemmers/romanian'),
  turkish: () => import('@orama/stemmers/turkish'),
  indonesian: () => import('@orama/stemmers/indonesian'),
  russian: () => import('@orama/stemmers/russian'),
  ukrainian: () => import('@orama/stemmers/ukrainian'),
  greek: () => import('@orama/stemmers/greek'),
  arabic: () => import('@orama/stemmers/arabic'),
};

const loaded = new Map<Language, Stem>();
/** Word → languages in which it is a function word. */
const votes = new Map<string, Language[]>();
for (const [language, words] of Object.entries(FUNCTION_WORDS))
  for (const word of words.split(' ')) votes.set(word, [...(votes.get(word) ?? []), language as Language]);

/** At least two words, because one may be a name. */
const VOTES_MIN = 2;

/** English unless another language is indicated. @param words the first words of the text in lower case */
export function languageOf(text: string, words: readonly string[]): Language {
  if (NOT_ASCII.test(text)) for (const [script, language] of SCRIPTS) if (script.test(text)) return language;
  const counts = new Map<Language, number>();
  for (const word of words)
    for (const language of votes.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
  let best: Language = 'english';
  let most = Math.max(VOTES_MIN - 1, counts.get('english') ?? 0);
  for (const [language, count] of counts) if (count > most) [best, most] = [language, count];
  return best;
}

export function isLanguage(name: string): name is Language {
  return Object.hasOwn(LOADERS, name);
}

/** Meaningless on its own, so it is not indexed. */
export function isFunctionWord(word: string, language: Language): boolean {
  return votes.get(word)?.includes(language) ?? false;
}

export async function loadStemmer(language: Language): Promise<Stem> {
  const known = loaded.get(language);
  if (known) return known;
  const { stemmer } = await LOADERS[language]();
  loaded.set(language, stemmer);
  return stemmer;
}
