import { userInfo } from 'node:os';

/**
 * The account of the operating system that runs the command, from the system's list. Variables such as `USER` are not used: anyone can set
 * them.
 */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown'); // a container may have no name for the number
  }
}
