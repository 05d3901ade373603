/** The author of a change by a person, who has no session: an account of the operating system. */

/** Ids of sessions cannot begin like this, so that no session passes for a person. */
const PERSON_PREFIX = 'user:';

/** The name of a person in `updatedBy`, such as `user:ann@desk`. The caller proves account and host. */
export function personActor(account: string, host: string): string {
  return `${PERSON_PREFIX}${account}@${host}`;
}

export function isPersonActor(name: string): boolean {
  return name.startsWith(PERSON_PREFIX);
}
