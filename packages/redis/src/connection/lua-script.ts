import { createHash } from 'node:crypto'

/** A server-side script with its digest. */
export interface LuaScript {
  /** For error messages. */
  readonly name: string
  readonly text: string
  readonly sha: string
}

/** The script of a text. The digest is what the server computes, so that a script once sent is found again. */
export function luaScript(name: string, text: string): LuaScript {
  return { name, text, sha: createHash('sha1').update(text).digest('hex') }
}
