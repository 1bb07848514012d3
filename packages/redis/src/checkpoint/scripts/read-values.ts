import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'

/** Reads data keys whose type is not known beforehand. Reply: a pair of type and content per key. Writes nothing. */
export const readValuesScript: LuaScript = luaScript(
  'read-values',
  `
local replies = {}
for i = 1, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  local content = false
  if kind == 'string' then content = redis.call('GET', KEYS[i])
  elseif kind == 'hash' then content = redis.call('HGETALL', KEYS[i])
  elseif kind == 'set' then content = redis.call('SMEMBERS', KEYS[i])
  elseif kind == 'zset' then content = redis.call('ZRANGE', KEYS[i], 0, -1, 'WITHSCORES') end
  replies[i] = {kind, content}
end
return replies
`,
)
