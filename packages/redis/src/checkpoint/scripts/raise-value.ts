import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'
import { writeVocabularyLua } from './write-vocabulary.ts'

/**
 * Sets a decimal number unless a greater or equal one stands there; commutes with itself.
 *
 * KEYS: the key. ARGV: the number as decimal digits. Reply: ['written'] | ['wrongtype', ...] | ['notanumber', ...].
 */
export const raiseValueScript: LuaScript = luaScript(
  'raise-value',
  `${writeVocabularyLua}
local refused, runs = check('M!1;', 1)
if refused then return refused end
apply(runs, 1, ARGV)
return {'written'}
`,
)
