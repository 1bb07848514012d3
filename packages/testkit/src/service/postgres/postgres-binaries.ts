import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findBinary } from '../process/find-binary.ts'

/** The programs of one Postgres. */
export interface PostgresBinaries {
  readonly server: string
  readonly initdb: string
}

/** What to install when there is no Postgres. */
export const postgresRemedy = 'install postgresql (Debian: apt-get install postgresql) or set POSTGRES_URL'

/** Debian keeps the programs of each version in a folder of its own, which is on no PATH. */
const debianFolder = '/usr/lib/postgresql'

/** The newest Postgres of Debian's folders, else the one on PATH. */
export function findPostgres(
  path: string | undefined = process.env['PATH'],
  versionsFolder: string = debianFolder,
): PostgresBinaries | undefined {
  const folders = versionFolders(versionsFolder)
  for (const folder of folders) {
    const [server, initdb] = [findBinary('postgres', folder), findBinary('initdb', folder)]
    if (server?.startsWith(folder) === true && initdb?.startsWith(folder) === true) return { server, initdb }
  }
  const server = findBinary('postgres', path)
  if (server === undefined) return undefined
  // A link on PATH leads to where the rest of that version is.
  const initdb = findBinary('initdb', dirname(realpathSync(server)))
  return initdb === undefined ? undefined : { server, initdb }
}

/** Whom a server runs as when this process is root, which Postgres refuses. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** The user `postgres` of the system, else `nobody`; `undefined` when this process is not root. */
export function serverUser(
  isRoot: boolean = process.getuid?.() === 0,
  passwd: string = readPasswd(),
): SystemUser | undefined {
  if (!isRoot) return undefined
  for (const name of ['postgres', 'nobody']) {
    const fields = passwd
      .split('\n')
      .map((line) => line.split(':'))
      .find(([user]) => user === name)
    const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])]
    if (Number.isInteger(uid) && Number.isInteger(gid) && uid > 0) return { uid, gid }
  }
  return undefined
}

function versionFolders(folder: string): readonly string[] {
  try {
    const versions = readdirSync(folder).filter((name) => /^\d+$/.test(name))
    return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(folder, version, 'bin'))
  } catch {
    return []
  }
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}
